// Makes the disks that a machine's configuration asks for.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "test/simulators/proxmox/core/cluster.hpp"

namespace proxmox_simulator {

struct DiskRequest {
    std::string node;
    int vmid = 0;
    std::string default_storage;
    Config settings;  // requested drive options: "local:8", "local:cloudinit", "local:iso/x.iso,media=cdrom"
};

// Allocates disks and returns the drive options to store. Adds each new volume to `created`, also when it
// throws. Holds the storage's lock while it allocates.
asio::awaitable<Config> create_disks(Cluster& cluster, Task& task, DiskRequest request,
                                     std::vector<std::string>& created);
void free_disks(Cluster& cluster, const std::string& node, const std::vector<std::string>& volumes);

}  // namespace proxmox_simulator
