// People and programs that share the cluster and the provider with the operator, each kind in its own file.
// The operator neither expects nor can forbid what they do. Each kind draws from its own stream of random
// numbers. A new kind therefore does not change what the others do in a seed.
#pragma once

#include <memory>
#include <vector>

#include "test/simulation/adversary.hpp"

namespace simulation {

class Outsider {
public:
    Outsider() = default;
    Outsider(const Outsider&) = delete;
    Outsider& operator=(const Outsider&) = delete;
    virtual ~Outsider() = default;

    // Decides whether this seed has this kind of outsider, and sets its alarms. Each action is counted in
    // World::happenings.
    virtual void begin() = 0;
    // Ends all actions, and repairs what no program in the cluster would repair.
    virtual void make_peace() = 0;
};

// Returns all kinds, in the order in which they begin.
std::vector<std::unique_ptr<Outsider>> all_outsiders(World& world, Operators& operators);

}  // namespace simulation
