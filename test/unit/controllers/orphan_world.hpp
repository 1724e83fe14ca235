// Helpers that the tests of garbage collection share: a machine that no claim owns, and the conditions about
// it.
#pragma once

#include "controllers/claim/facts/identity.hpp"
#include "controllers/garbage_collection.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace orphans {

using claims::NodeSmithProvider;
using claims::World;

inline const std::string kLostUid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

// Returns a machine with our mark whose claim does not exist.
inline fake::CloudMachine lost_machine() {
    fake::CloudMachine machine;
    machine.identity.cluster_id = "any";
    machine.identity.claim_namespace = "default";
    machine.identity.claim_name = "lost";
    machine.identity.claim_uid = kLostUid;
    machine.identity.system_uuid = controllers::claim::system_uuid(kLostUid, 1);
    machine.name = "lost";
    machine.host = "host-a";
    machine.machine_id = "900";
    machine.state = providers::MachineState::running;
    return machine;
}

// Returns the provider's present condition, or null if there is none.
inline const api::Condition* orphans_found(World& world) {
    static NodeSmithProvider provider;
    provider = *world.server.get<NodeSmithProvider>({"default", "proxmox"});
    return api::find_condition(provider.status.conditions, api::conditions::kOrphansFound);
}

}  // namespace orphans
