// Workers and helpers that several files about virtual machines share.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "test/simulators/proxmox/core/cluster.hpp"

namespace proxmox_simulator {

asio::awaitable<void> start_worker(Cluster& cluster, Task& task, std::string node, int vmid);
// Gives each interface without an address one, and brings the value into canonical form.
void add_random_macs(Cluster& cluster, Config& config);
// Takes the lock of one machine's configuration. It waits up to 10 s.
asio::awaitable<FileLocks::Held> lock_machine(Cluster& cluster, Task& task, int vmid);

}  // namespace proxmox_simulator
