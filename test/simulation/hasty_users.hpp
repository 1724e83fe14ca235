// A user who limits the age of a pool's nodes below the age at which machines come into service. Each node
// has reached its limit from the start, and so has each replacement.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"
#include "test/simulation/world.hpp"

namespace simulation {

class HastyUsers final : public Outsider {
public:
    explicit HastyUsers(World& world) : world_(world) {}

    void begin() override;
    void make_peace() override {}  // no node expires in peace

private:
    World& world_;
};

}  // namespace simulation
