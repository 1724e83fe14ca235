// Values of GET /cluster/resources: hosts, guests and storages. Its load figures are up to 10 s old, its list
// of guests is live (pmxcfs). It omits what the token may not see.
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
    std::string name;  // empty during a new VM's first 10 s
    bool is_container = false;
    bool is_template = false;
    bool is_running = false;
    base::Duration uptime{};  // time since its last start; 0: not running
    Tags tags;
    std::string pool;  // resource pool; empty: none
    std::string lock;  // create, clone, ...; empty: none
    std::int64_t cpus = 0;
    std::int64_t memory_mib = 0;
};

struct HostState {
    std::string name;
    bool is_online = false;  // it runs and sends statistics
    bool is_silent = false;  // it runs and sends no statistics, as its pvestatd hangs
    bool in_maintenance = false;
    std::int64_t cpus = 0;  // 0: the token lacks Sys.Audit on /nodes/<name>
    std::int64_t memory_mib = 0;
    double cpu_use = 0;  // fraction of 1
    std::int64_t memory_used_mib = 0;
    base::Duration uptime{};  // 0: down, or the token lacks Sys.Audit on it

    bool is_down() const { return !is_online && !is_silent; }
    // Returns why it is not used: "offline", or what a person can do about a silent host.
    std::string why_unused() const;
};

// StorageState is a storage as one host sees it.
struct StorageState {
    std::string name;
    std::string node;
    bool is_available = false;
    bool is_shared = false;
    bool takes_iso = false;
    bool takes_disks = false;
    bool keeps_files = false;    // disks are files, which have several formats
    std::int64_t total_mib = 0;  // 0: size not visible
    std::int64_t used_mib = 0;
    bool takes_imports = false;  // accepts files that disks are made from (since 8.2)

    // Returns a unique key. Local storages of several hosts may share a name.
    std::string key() const { return is_shared ? name : name + " on " + node; }
    // Returns "storage local-lvm on pve1" or "shared storage ceph".
    std::string str() const { return (is_shared ? "shared storage " : "storage ") + key(); }
};

// Full sizes in MiB of the volumes on one storage, by the VMID that owns them.
using VolumeSizes = std::map<std::int64_t, std::int64_t>;

struct ClusterState {
    std::vector<HostState> hosts;   // sorted by name
    std::vector<Guest> guests;      // sorted by VMID
    std::vector<Guest> odd_guests;  // existing guests on no known host, as their entries are odd
    std::vector<StorageState> storages;
    std::set<std::string> pools;           // resource pools that the token may see (Pool.Audit)
    std::vector<std::string> passed_over;  // messages about unusable entries with odd names
    std::uint64_t last_answer_before = 0;  // number of the client's last answer before it was read

    const HostState* find_host(const std::string& name) const;
    const Guest* find_guest(std::int64_t vmid) const;
    const StorageState* find_storage(const std::string& name, const std::string& host) const;
    // Finds the storage on any host.
    const StorageState* find_storage(const std::string& name) const;
};

ClusterState parse_cluster_state(const boost::json::value& data);

}  // namespace providers::proxmox
