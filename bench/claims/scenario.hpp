// A Proxmox cluster and a pool with room for any number of machines, all of which may come and go at once.
#pragma once

#include <cstdint>

#include "test/simulation/scenario.hpp"

namespace bench {

inline constexpr const char* kDeployment = "web";

// `machines` pods would each need a machine of their own, but there are none at first.
simulation::Scenario fleet_scenario(std::int64_t machines);

}  // namespace bench
