// Describes what is known of a claim when its next step is decided.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/label_upkeep.hpp"
#include "controllers/services/disruption_reports.hpp"
#include "controllers/services/machine_reports.hpp"

namespace controllers::claim {

// Hold describes why an action is not allowed now, for a condition.
struct Hold {
    std::string reason;
    std::string message;
};

struct Situation {
    const NodeSmithClaim& claim;
    const NodeSmithPool* pool = nullptr;            // null: the pool does not exist
    const NodeSmithProvider* provider = nullptr;    // null: the provider does not exist
    const api::v1alpha1::HostSpec* host = nullptr;  // set for bare metal only
    const api::Node* node = nullptr;                // the Node that runs on the claim's machine
    std::string node_refusal;  // why a Node with the machine's identity is not its Node; empty: none has it
    std::string contest;  // names the Nodes that share the machine's system UUID; empty: at most one has it
    std::string name_taken;               // why no machine may get the claim's name; empty: it may
    std::vector<Deviation> deviations;    // settings that the Node should have and lacks
    const api::Node* namesake = nullptr;  // has the claim's name but runs on another machine
    bool is_superseded = false;           // its machine is kept, and so is a younger one of its pool
    bool namesake_is_leftover = false;  // it is from an earlier attempt of this claim, whose machine is gone
    bool went_back = false;             // its status is older than one that this process saw
    bool is_unchecked = false;  // it is older than this process' work, and its machine was not looked for yet
    std::optional<Hold> launch_hold;  // why nothing may be launched: pool not selected, paused, ...
    bool volumes_attached = false;    // to the node
    std::string held_volumes;         // description of the volumes that hold the machine; empty: none
    std::set<std::string> tied_pods;  // UIDs of pods that use the held volumes
    // Names that volumes may have for the Node, if there is one.
    std::vector<api::v1alpha1::VolumePlace> volume_places;
    // The pool exists and cannot be decoded, and no earlier version of it is known.
    bool is_pool_unreadable = false;
    MachineReports::Report machine;             // findings of garbage collection
    MachineReports::Certificate certificate;    // findings of the certificate approver
    std::optional<DisruptionReports::Use> use;  // findings of the disruption controller
    DisruptionReports::Permission permission = DisruptionReports::Permission::none;  // and what it permits
    api::Time leads_since;      // what happened before may have waited for this process
    std::string guest_silence;  // why the guest gave no answer; empty: it answered, or was not asked
    api::Time now;
};

}  // namespace controllers::claim
