// Starts machines of ours again that nobody switched off: after a power cut their hosts come back without
// them, as a machine that comes and goes must not start by itself.
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

// Whether the host has memory for the VM beside all that runs there and what it keeps for itself. Pure.
bool has_room_to_start(const Settings& settings, const ClusterState& state, const std::string& host,
                       std::int64_t memory_mib);

class Restarter {
public:
    // All must outlive this.
    Restarter(const Settings& settings, Client& client, ClusterView& view, VmFinder& machines, Tasks& tasks,
              base::Clock& clock)
        : settings_(settings),
          client_(client),
          view_(view),
          machines_(machines),
          tasks_(tasks),
          clock_(clock) {}

    // One step. Throws ProviderError if the machine is not there or not provably ours, FencedError.
    asio::awaitable<RestartResult> start_again(MachineIdentity identity, MachineRecord record);

private:
    struct Tried {
        int times = 0;
        base::TimePoint last{};
        std::string task;
        std::string failure;
    };
    asio::awaitable<std::optional<RestartResult>> follow(std::shared_ptr<Tried> tried, std::string message);
    // Says why it stays off, as the logs of these hosts tell; empty: nobody wants it so.
    asio::awaitable<std::string> why_left_off(const Look& look, std::vector<HostState> hosts);
    asio::awaitable<bool> are_others_starting(std::string host);
    RestartResult waiting(const Tried& tried, std::string message) const;

    const Settings& settings_;
    Client& client_;
    ClusterView& view_;
    VmFinder& machines_;
    Tasks& tasks_;
    base::Clock& clock_;
    std::map<std::string, std::shared_ptr<Tried>> tried_;  // by SMBIOS UUID
};

}  // namespace providers::proxmox
