// Backups, logs and disks of others that fill the storages of hosts: some for a while, and those of one host
// for good, as long as another one has room.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> storage_fillers(World& world);

}  // namespace simulation
