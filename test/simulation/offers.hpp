// Describes a new machine of a pool as pods would see it: its Node, the pods of DaemonSets on it, and its
// free resources.
#pragma once

#include <vector>

#include "test/simulation/rooms.hpp"

namespace simulation {

// Returns the Node of a new machine on that host of a provider of type proxmox.
api::Node new_node(const NodeSmithPool& pool, const NodeSmithProvider& provider, const std::string& host);
std::vector<api::Pod> daemons_on(const World& world, const api::Node& node);
// Returns the machine's resources as the pool says or as its kubelets report, whichever is less.
api::ResourceList offered(const World& world, const NodeSmithPool& pool, const Registration& machine);

}  // namespace simulation
