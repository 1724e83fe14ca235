// Takes one machine a step nearer to running: sees, decides by ensure_step.hpp, acts once.
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
    // All must outlive this.
    Ensurer(const Settings& settings, Client& client, ClusterView& view, VmFinder& machines,
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
          unread_(clock) {}

    // Throws ProxmoxError for unexpected outcomes, FencedError.
    asio::awaitable<EnsureResult> ensure(MachineSpec spec);

private:
    asio::awaitable<EnsureResult> step(MachineSpec spec);
    // Forgets it as well.
    bool is_untouched(const MachineSpec& spec);
    void note_untouched(const EnsureResult& result);
    asio::awaitable<EnsureResult> act(MachineSpec spec, EnsureDecision decision, Look look);
    asio::awaitable<EnsureDecision> decide(const MachineSpec& spec, const Look& look, bool image_uploaded);
    asio::awaitable<EnsureResult> create(MachineSpec spec);
    asio::awaitable<EnsureResult> pause(MachineSpec spec, std::string message);
    // What the token lacks for the machine to join once it is made, as lack_text() says it.
    asio::awaitable<std::string> missing_to_join(const MachineSpec& spec);
    asio::awaitable<EnsureResult> clone(MachineSpec spec);
    asio::awaitable<EnsureResult> configure(MachineSpec spec, VmConfig config);
    asio::awaitable<EnsureResult> resize_or_start(MachineSpec spec, VmConfig config);
    asio::awaitable<EnsureResult> resolve_taken_id(MachineSpec spec, std::string refusal);
    asio::awaitable<EnsureResult> upload(MachineSpec spec);
    asio::awaitable<EnsureResult> attach_and_start(MachineSpec spec, VmConfig config);
    asio::awaitable<EnsureResult> start(MachineSpec spec);
    // The VM runs: what is left to do inside of it.
    asio::awaitable<EnsureResult> finish(MachineSpec spec);
    asio::awaitable<EnsureResult> join(MachineSpec spec, AgentTask task);
    // The task of ours that is making the VM; empty: a clone of its template, maybe this one; nullopt: none.
    asio::awaitable<std::optional<std::string>> creation_at_work(const MachineSpec& spec);
    asio::awaitable<EnsureResult> find_creation(MachineSpec spec, std::string message);
    // The recorded host does not answer.
    asio::awaitable<EnsureResult> without_host(MachineSpec spec, ProxmoxError why);
    asio::awaitable<EnsureResult> progress(MachineSpec spec, MachineState state, std::string task,
                                           std::string message);

    const Settings& settings_;
    Client& client_;
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
    // After reads that failed in passing. Whoever calls meanwhile need not wait.
    GrowingPauses unread_;
    // The failed task on record for which this process has paused already, by SMBIOS UUID.
    std::map<std::string, std::string> paused_after_;
    // What this process has placed and asked nothing for yet, by SMBIOS UUID: it need not be looked for.
    std::map<std::string, MachineRecord> untouched_;
};

}  // namespace providers::proxmox
