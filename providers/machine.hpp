// What a machine is: whose it is, what is recorded of it in its claim, and how it stands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace providers {

// Whose machine it is; written into the machine and read back before anything destructive (decisions: mark).
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

// What is recorded of a machine in its claim, before the act that needs it and after each step.
struct MachineRecord {
    std::string host;        // hypervisor host, or the NodeSmithHost; empty: not placed yet
    std::string machine_id;  // VMID; empty: not placed yet
    std::string task;        // a task under way at the provider (Proxmox UPID); empty: none
    // With a removal: how long a task may take that is making the machine; 0: as long as such tasks take.
    base::Duration patience{};

    bool operator==(const MachineRecord&) const = default;
};

enum class MachineState {
    placed,    // host and id are chosen, nothing exists yet: record them, then call ensure again
    creating,  // a task is under way
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
    std::string template_revision;  // if placed: of the template that it will be made from; empty: of none
    std::string message;  // what is being waited for, for people: "waiting for task qmcreate on host pve1"
    // Bare metal: identity.system_uuid is the hardware's own, and a lock on the host is the mark.
    bool is_bare_metal = false;
    base::Duration retry_after{};  // when to call again; 0: nothing to wait for
};

enum class Power { off, on };

// Of a host, or of one machine.
struct Capacity {
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;

    bool operator==(const Capacity&) const = default;
};

}  // namespace providers
