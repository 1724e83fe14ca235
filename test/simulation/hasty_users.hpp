// A user who wants the nodes of a pool younger than machines are when they come into service: each is as old
// as it may get from the start, and so is each that replaces it.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"
#include "test/simulation/world.hpp"

namespace simulation {

class HastyUsers final : public Outsider {
public:
    explicit HastyUsers(World& world) : world_(world) {}

    void begin() override;
    void make_peace() override {}  // nothing expires in peace

private:
    World& world_;
};

}  // namespace simulation
