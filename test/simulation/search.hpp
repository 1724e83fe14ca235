// An independent search: could the operator launch a machine now that lets a waiting pod run? The search
// looks at the world itself, and reads objects where the operator cannot know better. It shares no code with
// the operator. Doubt counts against the launch: of two estimates of a machine the search takes the smaller
// one.
#pragma once

#include <optional>
#include <string>

#include "test/simulation/world.hpp"

namespace simulation {

struct HelpfulMachine {
    std::string pool, host;
    std::int64_t cpu_cores = 0, memory_mib = 0;

    std::string str() const;
};

// Returns a helpful launch in a pool without trouble, on a host that can take its machine. Returns nullopt if
// no launch helps, or if launches for the pod are held back for a while because they did not help.
std::optional<HelpfulMachine> machine_that_helps(const World& world, const api::Pod& pod);

// Reports whether the scheduler found no Node for the pod, and only a new Node can help.
bool waits_for_node(const api::Pod& pod);
// Reports whether the claim has, may have or will have a machine. A claim keeps its place between two
// attempts.
bool may_have_machine(const NodeSmithClaim& claim);
// Reports whether the machine is still to come, and no change by people is needed for it.
bool is_on_its_way(const NodeSmithClaim& claim);

}  // namespace simulation
