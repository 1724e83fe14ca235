// Cloner clones templates, within the clone slots of each template's host.
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
    // All arguments must outlive this.
    Cloner(const Settings& settings, ProxmoxClient& client, Templates& templates, base::Clock& clock)
        : settings_(settings),
          client_(client),
          templates_(templates),
          slots_(clock, settings.spec.placement.maxConcurrentClonesPerNode),
          clock_(clock) {}

    // Returns the UPID of the clone, or why it must wait. Throws ProxmoxError, FencedError, or ProviderError
    // if the template no longer exists.
    struct Started {
        std::string upid;  // empty: no free slot
        std::string message;
    };
    asio::awaitable<Started> clone(MachineSpec spec);
    // Updates the slots after a look at the clone's task.
    void note_task(const MachineSpec& spec, const Upid& task, const TaskStatus& status);
    // Reports whether a clone of the same template is running. Its task does not say for which machine.
    asio::awaitable<bool> is_cloning(std::string host);

private:
    asio::awaitable<std::string> start_clone(MachineSpec spec, Guest source);
    struct Source {
        CloneSource parts;
        std::string disks;  // volume IDs, separated by blanks
    };
    asio::awaitable<Source> read_source(Guest source);

    const Settings& settings_;
    ProxmoxClient& client_;
    Templates& templates_;
    CloneSlots slots_;
    base::Clock& clock_;
    // Time when linking to these disks was last refused. The disks are the key, because a template that moves
    // to another storage has other disks. A new template with the same VMID also has other disks.
    std::map<std::string, base::TimePoint> cannot_link_;
};

}  // namespace providers::proxmox
