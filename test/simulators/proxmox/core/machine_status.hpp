// Live figures of hosts and machines.
#pragma once

#include <boost/json/object.hpp>

#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

namespace json = boost::json;
class Cluster;

// The size and the use of a host's own disk.
inline constexpr std::uint64_t kRootDisk = 96 * kGiB, kRootDiskUsed = 12 * kGiB;

// Returns the answer of GET /nodes/{node}/qemu/{vmid}/status/current.
json::object machine_status(const Cluster& cluster, const Machine& machine);
// Returns the machine's entry in GET /nodes/{node}/qemu, which lacks the values that QEMU itself must answer.
json::object machine_summary(const Cluster& cluster, const Machine& machine);
// Returns the figures that are broadcast for the cluster-wide list.
json::object machine_usage(const Cluster& cluster, const Machine& machine);
json::object host_usage(const Cluster& cluster, const Host& host);
std::uint64_t host_memory_used(const Cluster& cluster, const Host& host);
std::int64_t uptime(const Cluster& cluster, const Machine& machine);
std::int64_t uptime(const Cluster& cluster, const Host& host);

}  // namespace proxmox_simulator
