// Starts our machines again if nobody switched them off. After a power cut hosts come back without them, as
// managed machines do not start with their host.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "providers/capabilities.hpp"
#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/client.hpp"
#include "providers/proxmox/wire/tasks.hpp"

namespace providers::proxmox {

// Reports whether the host has memory for the VM besides its running guests and its own reserve. Pure.
bool has_room_to_start(const Settings& settings, const ClusterState& state, const std::string& host,
                       std::int64_t memory_mib);

class Restarter {
public:
    // All arguments must outlive this.
    Restarter(const Settings& settings, ProxmoxClient& client, ClusterView& view, VmFinder& machines,
              Tasks& tasks, base::Clock& clock)
        : settings_(settings),
          client_(client),
          view_(view),
          machines_(machines),
          tasks_(tasks),
          clock_(clock) {}

    // Takes one step. Throws ProviderError if the machine does not exist or is not provably ours,
    // FencedError.
    asio::awaitable<RestartResult> start_again(MachineIdentity identity, MachineRecord record);

private:
    struct Tried {
        int times = 0;
        base::TimePoint last{};  // start, or first look if it was not started yet
        std::string host;        // of the last start
        std::int64_t vmid = 0;
        std::int64_t memory_mib = 0;
        std::string task;         // of the last start, until it was seen ended
        base::TimePoint ended{};  // when the last task was seen ended
        std::string failure;
    };
    asio::awaitable<std::optional<RestartResult>> follow(std::shared_ptr<Tried> tried, std::string message);
    // Returns why it must stay off, from the logs of these hosts; empty: nobody wants it off.
    asio::awaitable<std::string> why_left_off(const Look& look, std::vector<HostState> hosts);
    // Returns the host's own time, in seconds since 1970, which its tasks carry. Without an answer: ours.
    asio::awaitable<std::int64_t> time_of(std::string host);
    asio::awaitable<bool> are_others_starting(std::string host);
    bool has_room(const ClusterState& state, const Look& look) const;
    RestartResult waiting(const Tried& tried, std::string message) const;

    const Settings& settings_;
    ProxmoxClient& client_;
    ClusterView& view_;
    VmFinder& machines_;
    Tasks& tasks_;
    base::Clock& clock_;
    std::map<std::string, std::shared_ptr<Tried>> tried_;  // by SMBIOS UUID
};

}  // namespace providers::proxmox
