// Identity of a machine, its record in its claim, and its state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace providers {

// MachineIdentity says who owns a machine. It is written into the machine and read back before every
// destructive action (decisions: mark).
struct MachineIdentity {
    std::string cluster_id;    // UID of the kube-system namespace
    std::string provider_uid;  // UID of the NodeSmithProvider
    std::string claim_namespace;
    std::string claim_name;
    std::string claim_uid;
    std::int64_t attempt = 1;
    std::string system_uuid;  // SMBIOS UUID, lower case: UUIDv5(claim UID, attempt)

    bool operator==(const MachineIdentity&) const = default;
};

// MachineRecord is the part of a machine that its claim records, before each action and after each step.
struct MachineRecord {
    std::string host;        // hypervisor host or NodeSmithHost; empty: not placed yet
    std::string machine_id;  // VMID; empty: not placed yet
    std::string task;        // task running at the provider (Proxmox UPID); empty: none
    // Used with a removal: limit for a task that is making the machine; 0: the usual limit of such tasks.
    base::Duration patience{};

    bool operator==(const MachineRecord&) const = default;
};

enum class MachineState {
    placed,    // host and ID are chosen, nothing exists yet: record them, then call ensure() again
    creating,  // a task is running
    starting,
    running,
    stopped,
};

struct Machine {
    MachineState state = MachineState::placed;
    MachineIdentity identity;
    MachineRecord record;
    std::string name;
    std::string provider_id;
    std::string zone;
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
    std::vector<std::string> addresses;
    std::string template_revision;  // when placed: revision of the template to use; empty: no template
    std::string message;  // says what the machine waits for, e.g. "waiting for task qmcreate on host pve1"
    // True for bare metal: identity.system_uuid is the hardware's UUID, and the lock on the host is the mark.
    bool is_bare_metal = false;
    // True for one that was made for the claim in its mark, but does not have the claim's UUID yet.
    bool is_unfinished = false;
    base::Duration retry_after{};  // time until the next call; 0: no need to wait
    // True while its creation waits for what is not its host's fault: a backup's lock, a missing right.
    bool waits_for_others = false;
    // Time since the beginning of its creation in which it waited so, as far as this process knows.
    base::Duration waited{};
};

enum class Power { off, on };

// Capacity of a host or of one machine.
struct Capacity {
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;

    bool operator==(const Capacity&) const = default;
};

}  // namespace providers
