// MachineRemover takes one step towards a removed or stopped machine. It proves that the machine is ours,
// decides with remove_step.hpp, and acts once.
#pragma once

#include <set>
#include <string>

#include "providers/capabilities.hpp"
#include "providers/proxmox/placement/made_volumes.hpp"
#include "providers/proxmox/remove_step.hpp"
#include "providers/proxmox/vm/boot_images.hpp"
#include "providers/proxmox/vm/volume_guard.hpp"
#include "providers/proxmox/wire/stale_locks.hpp"

namespace providers::proxmox {

class MachineRemover {
public:
    // All arguments must outlive this.
    MachineRemover(const Settings& settings, ProxmoxClient& client, VmFinder& machines, BootImages& images,
                   Tasks& tasks, MadeVolumesFinder& volumes, base::Clock& clock)
        : settings_(settings),
          client_(client),
          machines_(machines),
          images_(images),
          tasks_(tasks),
          volumes_(volumes),
          clock_(clock),
          guard_(client),
          locks_(clock),
          pauses_(clock),
          unread_(clock),
          repeats_(clock) {}

    // Both throw ProxmoxError, FencedError.
    asio::awaitable<RemoveResult> remove(MachineIdentity identity, MachineRecord record, InUseCheck in_use);
    asio::awaitable<StopResult> stop(MachineIdentity identity, MachineRecord record, InUseCheck in_use);

private:
    struct Command {
        Aim aim;
        MachineIdentity identity;
        MachineRecord record;
        InUseCheck in_use;
    };
    asio::awaitable<StopResult> advance(Command command);
    // Returns what the recorded task makes us wait for; nullopt: nothing.
    asio::awaitable<std::optional<StopResult>> task_under_way(const MachineIdentity& identity,
                                                              MachineRecord record);
    asio::awaitable<RemoveObservation> observe(const Command& command, Look look);
    asio::awaitable<StopResult> act(MachineIdentity identity, RemoveObservation seen, RemoveDecision decision,
                                    std::string recorded_task);
    asio::awaitable<std::string> switch_off(const Look& machine);
    // Returns why the stopped machine must not be destroyed; empty: it may be.
    asio::awaitable<std::string> volume_obstacle(const Look& machine);
    // Looks again. Reports whether somebody changed the VM since it was looked at.
    asio::awaitable<bool> has_changed(const MachineIdentity& identity, const Look& machine);
    // `looked_at` is the time of the last look at the VM.
    asio::awaitable<std::string> destroy(const Look& machine, base::TimePoint looked_at);

    const Settings& settings_;
    ProxmoxClient& client_;
    VmFinder& machines_;
    BootImages& images_;
    Tasks& tasks_;
    MadeVolumesFinder& volumes_;
    base::Clock& clock_;
    VolumeGuard guard_;
    StaleLocks locks_;
    GrowingPauses pauses_;
    // Pauses after reads that failed temporarily. Calls during a pause return without waiting.
    GrowingPauses unread_;
    // Pauses between repeated requests for a task that was not seen to succeed. Their answers may be lost, so
    // it is unknown whether they failed.
    GrowingPauses repeats_;
    std::set<std::string> shut_down_;  // SMBIOS UUIDs of machines that this process asked to shut down
    // SMBIOS UUIDs of machines with a possible unrecorded task, as an answer was lost or a lock is held.
    std::set<std::string> unsure_;
};

}  // namespace providers::proxmox
