// Ensurer takes one step towards a running machine: it observes, decides with ensure_step.hpp, and acts once.
#pragma once

#include <string>

#include "providers/proxmox/cloner.hpp"
#include "providers/proxmox/configurer.hpp"
#include "providers/proxmox/ensure_step.hpp"
#include "providers/proxmox/placement/host_chooser.hpp"
#include "providers/proxmox/vm/guest_agent.hpp"
#include "providers/proxmox/wire/growing_pauses.hpp"
#include "providers/proxmox/wire/stale_locks.hpp"

namespace providers::proxmox {

class Ensurer {
public:
    // All arguments must outlive this.
    Ensurer(const Settings& settings, ProxmoxClient& client, ClusterView& view, VmFinder& machines,
            BootImages& images, Cloner& cloner, Configurer& configurer, GuestAgent& agent,
            HostChooser& placer, Tasks& tasks, base::Clock& clock)
        : settings_(settings),
          client_(client),
          view_(view),
          machines_(machines),
          images_(images),
          cloner_(cloner),
          configurer_(configurer),
          agent_(agent),
          placer_(placer),
          tasks_(tasks),
          locks_(clock),
          pauses_(clock),
          unread_(clock),
          clock_(clock) {}

    // Throws ProxmoxError for unexpected outcomes, FencedError.
    asio::awaitable<EnsureResult> ensure(MachineSpec spec);

private:
    // Wait measures how long a machine in creation waits for what is not its host's fault.
    struct Wait {
        base::Duration total{};
        std::optional<base::TimePoint> since;  // begin of the present wait that is not in the total
        base::TimePoint last{};                // last look
    };
    // Takes the step unless the machine has to pause, and turns expected errors into results.
    asio::awaitable<EnsureResult> try_step(MachineSpec spec);
    asio::awaitable<EnsureResult> step(MachineSpec spec);
    // Writes into the result how long the machine has waited for others.
    void note_wait(const std::string& uuid, EnsureResult& result);
    // Reports whether the machine is in untouched_, and removes it there.
    bool is_untouched(const MachineSpec& spec);
    void note_untouched(const EnsureResult& result);
    asio::awaitable<EnsureResult> act(MachineSpec spec, EnsureDecision decision, Look look);
    asio::awaitable<EnsureDecision> decide(const MachineSpec& spec, const Look& look, bool image_uploaded);
    asio::awaitable<EnsureResult> create(MachineSpec spec);
    asio::awaitable<EnsureResult> pause(MachineSpec spec, std::string message);
    // Returns the rights that the token lacks for the machine's join, as a text of lack_text().
    asio::awaitable<std::string> missing_to_join(const MachineSpec& spec);
    asio::awaitable<EnsureResult> clone(MachineSpec spec);
    asio::awaitable<EnsureResult> configure(MachineSpec spec, VmConfig config);
    asio::awaitable<EnsureResult> resize_or_start(MachineSpec spec, VmConfig config);
    asio::awaitable<EnsureResult> resolve_taken_id(MachineSpec spec, std::string refusal);
    asio::awaitable<EnsureResult> upload(MachineSpec spec);
    asio::awaitable<EnsureResult> attach_and_start(MachineSpec spec, VmConfig config);
    asio::awaitable<EnsureResult> start(MachineSpec spec);
    // Does the remaining work inside the running VM.
    asio::awaitable<EnsureResult> finish(MachineSpec spec);
    asio::awaitable<EnsureResult> join(MachineSpec spec, AgentTask task);
    // Returns our task that is making the VM. Empty: a clone of its template runs, perhaps this one; nullopt:
    // no such task.
    asio::awaitable<std::optional<std::string>> creation_at_work(const MachineSpec& spec);
    asio::awaitable<EnsureResult> find_creation(MachineSpec spec, std::string message);
    // Called when the recorded host does not answer.
    asio::awaitable<EnsureResult> without_host(MachineSpec spec, ProxmoxError why);
    asio::awaitable<EnsureResult> progress(MachineSpec spec, MachineState state, std::string task,
                                           std::string message);

    const Settings& settings_;
    ProxmoxClient& client_;
    ClusterView& view_;
    VmFinder& machines_;
    BootImages& images_;
    Cloner& cloner_;
    Configurer& configurer_;
    GuestAgent& agent_;
    HostChooser& placer_;
    Tasks& tasks_;
    StaleLocks locks_;
    GrowingPauses pauses_;
    // Pauses after reads that failed temporarily. Calls during a pause return without waiting.
    GrowingPauses unread_;
    base::Clock& clock_;
    std::map<std::string, Wait> waits_;  // by SMBIOS UUID, since the machine was first seen in creation
    // The recorded failed task after which this process has already paused, by SMBIOS UUID.
    std::map<std::string, std::string> paused_after_;
    // Machines that this process placed but has not requested yet, by SMBIOS UUID. They need no look-up.
    std::map<std::string, MachineRecord> untouched_;
};

}  // namespace providers::proxmox
