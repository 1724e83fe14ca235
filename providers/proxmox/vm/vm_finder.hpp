// Looks at single VMs: where a machine is, whether it is ours, whether it runs. Changes nothing.
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
    absent,     // not on that host (look_at), or nowhere (find)
    host_down,  // it is on a host that is off
    hidden,     // the token may not see a VM of that ID; look_at: if there is one at all
};

struct Look {
    Presence presence = Presence::absent;
    std::string host;  // where it is, or was recorded
    std::int64_t vmid = 0;
    VmConfig config;  // if present
    Ownership ownership = Ownership::foreign;
};

class VmFinder {
public:
    // All must outlive this.
    VmFinder(const Settings& settings, Client& client, ClusterView& view)
        : settings_(settings), client_(client), view_(view) {}

    // The VM of that ID on that host, one request. Throws ProxmoxError.
    asio::awaitable<Look> look_at(MachineIdentity identity, std::string host, std::int64_t vmid);
    // The same, and if it is not there, where it is now: VMs migrate, and their hosts go down.
    asio::awaitable<Look> find(MachineIdentity identity, MachineRecord record);
    // The VM with this identity under whatever ID; absent if there is none among those that carry our tag or
    // the claim's name.
    asio::awaitable<Look> find_elsewhere(MachineIdentity identity);
    asio::awaitable<bool> is_running(std::string host, std::int64_t vmid);
    asio::awaitable<bool> is_free(std::int64_t vmid);

    struct Marked {
        MachineIdentity identity;
        std::int64_t cpu_cores = 0;
        std::int64_t memory_mib = 0;
    };
    // Who the guest says it is; nullopt: it has no mark, or it cannot be asked now. Remembered for as long as
    // it runs on, so it may be outdated: good for finding, not for deciding on destruction.
    asio::awaitable<std::optional<Marked>> mark_of(Guest guest);
    // Whether its mark, or that it has none, was ever read.
    bool is_known(const Guest& guest) const { return remembered_.contains(guest.vmid); }
    // Forgets what is remembered of guests that are not in the state any more.
    void forget_missing(const ClusterState& state);

private:
    struct Remembered {
        std::string name;
        base::Duration uptime{};  // then
        base::TimePoint read_at;
        std::optional<Marked> marked;
    };
    bool still_holds(const Remembered& known, const Guest& guest) const;
    asio::awaitable<Look> find_missing(MachineIdentity identity, std::string recorded_host,
                                       std::int64_t vmid);

    const Settings& settings_;
    Client& client_;
    ClusterView& view_;
    std::map<std::int64_t, Remembered> remembered_;
};

}  // namespace providers::proxmox
