// What a new machine of a pool would be to pods: its Node, the DaemonSets' pods on it, and what it offers.
#pragma once

#include <vector>

#include "test/simulation/rooms.hpp"

namespace simulation {

// On that host of a provider of type proxmox.
api::Node new_node(const NodeSmithPool& pool, const NodeSmithProvider& provider, const std::string& host);
std::vector<api::Pod> daemons_on(const World& world, const api::Node& node);
// As the pool says or as its kubelets do, whichever is less.
api::ResourceList offered(const World& world, const NodeSmithPool& pool, const Registration& machine);

}  // namespace simulation
