// Backups, logs and disks of others that fill the storages of hosts. Some are full for a while. Those of one
// host stay full, as long as another host has room.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> storage_fillers(World& world);

}  // namespace simulation
