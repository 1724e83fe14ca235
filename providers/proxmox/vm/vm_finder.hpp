// Reads single VMs: where a machine is, whether it is ours, and whether it runs. Changes nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/config/vm_config.hpp"

namespace providers::proxmox {

enum class Presence {
    present,
    absent,     // not on that host (look_at), or on no host (find)
    host_down,  // it is on a host that is down or left the cluster
    hidden,     // the token cannot see a VM of that ID; look_at: there may be none
};

struct Look {
    Presence presence = Presence::absent;
    std::string host;  // current host, or the recorded one
    std::int64_t vmid = 0;
    bool has_host_left = false;  // host_down: the host is no longer in the cluster
    bool is_uncertain = false;   // host_down: the VM only may be this machine
    VmConfig config;             // set if present
    Ownership ownership = Ownership::foreign;
};

// Returns why the machine cannot be reached, for Presence::host_down: "the host is down".
std::string host_down_reason(const Look& look);

class VmFinder {
public:
    // All arguments must outlive this.
    VmFinder(const Settings& settings, ProxmoxClient& client, ClusterView& view)
        : settings_(settings), client_(client), view_(view) {}

    // Reads the VM of that ID on that host with one request. Throws ProxmoxError.
    asio::awaitable<Look> look_at(MachineIdentity identity, std::string host, std::int64_t vmid);
    // Does the same, and looks elsewhere if it is missing: VMs migrate, and their hosts go down.
    asio::awaitable<Look> find(MachineIdentity identity, MachineRecord record);
    // Finds the VM with this identity under any ID. Absent: no VM with our tag or the claim's name has it.
    asio::awaitable<Look> find_elsewhere(MachineIdentity identity);
    asio::awaitable<bool> is_running(std::string host, std::int64_t vmid);
    asio::awaitable<bool> is_free(std::int64_t vmid);

    struct Marked {
        MachineIdentity identity;
        std::int64_t cpu_cores = 0;
        std::int64_t memory_mib = 0;
        bool is_unfinished = false;
    };
    // Returns the guest's mark; nullopt: it has no mark, or it cannot be read now. The mark is cached while
    // the guest keeps running, so it may be outdated. Use it for finding machines, never for deciding on
    // destruction.
    asio::awaitable<std::optional<Marked>> mark_of(Guest guest);
    // Reports whether its mark, or the lack of one, was ever read.
    bool is_known(const Guest& guest) const { return remembered_.contains(guest.vmid); }
    // Forgets guests that are no longer in the state.
    void forget_missing(const ClusterState& state);

private:
    struct Remembered {
        std::string name;
        base::Duration uptime{};  // when it was read
        base::TimePoint read_at;
        std::optional<Marked> marked;
    };
    bool still_holds(const Remembered& known, const Guest& guest) const;
    asio::awaitable<Look> find_missing(MachineIdentity identity, std::string recorded_host,
                                       std::int64_t vmid);

    const Settings& settings_;
    ProxmoxClient& client_;
    ClusterView& view_;
    std::map<std::int64_t, Remembered> remembered_;
};

}  // namespace providers::proxmox
