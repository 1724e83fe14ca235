// People and programs that share the cluster and the provider with the operator: each kind in a file of its
// own. They do what the operator neither expects nor can forbid. Each draws from a stream of random numbers
// of its own, so that a new kind does not change what the others do in a seed.
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

    // Decides whether this seed has this kind of outsider, and arms its alarms. Each deed is counted in
    // World::happenings.
    virtual void begin() = 0;
    // Ends all deeds, and repairs what no program in the cluster would repair.
    virtual void make_peace() = 0;
};

// All kinds, in the order in which they begin.
std::vector<std::unique_ptr<Outsider>> all_outsiders(World& world, Operators& operators);

}  // namespace simulation
