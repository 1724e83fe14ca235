// People and programs whose volumes are on the storages that machines use. They are a CSI plugin, kept disks
// of old VMs, and a second cluster on a shared storage. Administrators also attach disks to machines of the
// operator. They move a disk away some time after a condition asks for it.
#pragma once

#include <memory>

#include "test/simulation/outsiders.hpp"

namespace simulation {

// Prefix of the content of each of their disks, which identifies the disk under any name.
inline constexpr const char* kDataOfOthers = "data of others: ";

// The VMID of all volumes of the Proxmox CSI plugin.
inline constexpr int kCsiOwner = 9999;

std::unique_ptr<Outsider> volume_keepers(World& world);

}  // namespace simulation
