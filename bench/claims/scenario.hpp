// A Proxmox cluster and a pool with room for any number of machines. All of them may be created and removed
// simultaneously.
#pragma once

#include <cstdint>

#include "test/simulation/scenario.hpp"

namespace bench {

inline constexpr const char* kDeployment = "web";

// Returns a scenario where each of `machines` pods would need a separate machine. At first there are no pods.
simulation::Scenario fleet_scenario(std::int64_t machines);

}  // namespace bench
