// Workers and helpers that several of the virtual machine's files share.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "test/simulators/proxmox/core/cluster.hpp"

namespace proxmox_simulator {

asio::awaitable<void> start_worker(Cluster& cluster, Task& task, std::string node, int vmid);
// Interfaces without an address get one; the value is brought into canonical form.
void add_random_macs(Cluster& cluster, Config& config);
// The lock of one machine's configuration; waits up to 10 s.
asio::awaitable<FileLocks::Held> lock_machine(Cluster& cluster, Task& task, int vmid);

}  // namespace proxmox_simulator
