// An independent search: would a machine that the operator could launch now let a waiting pod run? It looks
// at the world as it is, at what objects say where the operator cannot know better, and shares no code with
// it. What is in doubt counts against the launch: of two opinions about a machine the poorer one.
#pragma once

#include <optional>
#include <string>

#include "test/simulation/world.hpp"

namespace simulation {

struct HelpfulPurchase {
    std::string pool, host;
    std::int64_t cpu_cores = 0, memory_mib = 0;

    std::string str() const;
};

// Of the pools that are in no trouble of their own and the hosts that are fit for a machine of theirs.
// nullopt: none helps, or the pod's launches are held back for a while because they did not help.
std::optional<HelpfulPurchase> purchase_that_helps(const World& world, const api::Pod& pod);

// The scheduler found no Node for it, and none but a new one will do.
bool waits_for_node(const api::Pod& pod);
// Has a machine, or may have one, or is going to have one: between two attempts a claim keeps its place.
bool may_have_machine(const NodeSmithClaim& claim);
// The machine has yet to come, and nothing that people must change is in its way.
bool is_on_its_way(const NodeSmithClaim& claim);

}  // namespace simulation
