// Clones templates, within the slots of each template's host.
#pragma once

#include <map>
#include <string>

#include "providers/launch.hpp"
#include "providers/proxmox/clone_slots.hpp"
#include "providers/proxmox/cloning.hpp"
#include "providers/proxmox/placement/templates.hpp"
#include "providers/proxmox/wire/task_status.hpp"

namespace providers::proxmox {

class Cloner {
public:
    // All must outlive this.
    Cloner(const Settings& settings, Client& client, Templates& templates, base::Clock& clock)
        : settings_(settings),
          client_(client),
          templates_(templates),
          slots_(clock, settings.spec.placement.maxConcurrentClonesPerNode),
          clock_(clock) {}

    // The UPID of the clone, or why it has to wait. Throws ProxmoxError, FencedError, ProviderError if the
    // template has gone.
    struct Started {
        std::string upid;  // empty: no slot is free
        std::string message;
    };
    asio::awaitable<Started> clone(MachineSpec spec);
    // After a look at the clone's task.
    void note_task(const MachineSpec& spec, const Upid& task, const TaskStatus& status);
    // A clone of the same template is at work: whose, its task does not tell.
    asio::awaitable<bool> is_cloning(std::string host);

private:
    asio::awaitable<std::string> start_clone(MachineSpec spec, Guest source);
    struct Source {
        CloneSource parts;
        std::string disks;  // volume IDs, one after the other
    };
    asio::awaitable<Source> read_source(Guest source);

    const Settings& settings_;
    Client& client_;
    Templates& templates_;
    CloneSlots slots_;
    base::Clock& clock_;
    // When it was last found that disks cannot be linked to. A template that moves to another storage, or
    // another one with its VMID, has other disks.
    std::map<std::string, base::TimePoint> cannot_link_;
};

}  // namespace providers::proxmox
