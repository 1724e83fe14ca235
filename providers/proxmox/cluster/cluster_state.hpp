// What GET /cluster/resources says: hosts, guests and storages, as values. Its momentary figures are up to 10
// s old, its list of guests is live (pmxcfs), and it leaves out what the token may not see.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

struct Guest {
    std::int64_t vmid = 0;
    std::string node;
    std::string name;  // empty for a new VM's first 10 s
    bool is_container = false;
    bool is_template = false;
    bool is_running = false;
    base::Duration uptime{};  // since it was last started; 0: it does not run
    Tags tags;
    std::string pool;  // resource pool; empty: none
    std::string lock;  // create, clone, ...; empty: none
    std::int64_t cpus = 0;
    std::int64_t memory_mib = 0;
};

struct HostState {
    std::string name;
    bool is_online = false;
    bool in_maintenance = false;
    std::int64_t cpus = 0;  // 0: the token lacks Sys.Audit on /nodes/<name>
    std::int64_t memory_mib = 0;
    double cpu_use = 0;  // of 1
    std::int64_t memory_used_mib = 0;
    base::Duration uptime{};  // 0: it is down, or the token lacks Sys.Audit on it
};

// A storage as one host sees it.
struct StorageState {
    std::string name;
    std::string node;
    bool is_available = false;
    bool is_shared = false;
    bool takes_iso = false;
    bool takes_disks = false;
    bool keeps_files = false;    // disks are files, in one of several formats
    std::int64_t total_mib = 0;  // 0: its size is not visible
    std::int64_t used_mib = 0;
    bool takes_imports = false;  // files that disks are made of; content type import came with 8.2

    // Storages that are not shared are told apart by their host.
    std::string key() const { return is_shared ? name : name + " on " + node; }
    // "storage local-lvm on pve1", or "shared storage ceph".
    std::string str() const { return (is_shared ? "shared storage " : "storage ") + key(); }
};

// The full sizes of the volumes on one storage, in MiB by the VMID that they belong to.
using VolumeSizes = std::map<std::int64_t, std::int64_t>;

struct ClusterState {
    std::vector<HostState> hosts;   // by name
    std::vector<Guest> guests;      // by VMID
    std::vector<Guest> odd_guests;  // there, but on no host that could be asked: their entries are odd
    std::vector<StorageState> storages;
    std::set<std::string> pools;           // resource pools that the token may see (Pool.Audit)
    std::vector<std::string> passed_over;  // why entries cannot be used: names in them are odd

    const HostState* find_host(const std::string& name) const;
    const Guest* find_guest(std::int64_t vmid) const;
    const StorageState* find_storage(const std::string& name, const std::string& host) const;
    // On any host.
    const StorageState* find_storage(const std::string& name) const;
};

ClusterState parse_cluster_state(const boost::json::value& data);

}  // namespace providers::proxmox
