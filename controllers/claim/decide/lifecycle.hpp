// Decides what to do next with a claim, as pure functions of what is known. A pass records Decision::status
// if it differs, then takes the step. So everything needed to find a step again after a crash is in the
// status beforehand. A step that only chooses (a host) needs no such record. Its outcome is written together
// with that status. docs/states.md shows the states.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/services/disruption_reports.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/services/machine_reports.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/label_upkeep.hpp"
#include "providers/launch.hpp"
#include "providers/removal.hpp"

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
    MachineReports::Report machine;   // findings of garbage collection
    std::optional<DisruptionReports::Use> use;  // findings of the disruption controller
    DisruptionReports::Permission permission = DisruptionReports::Permission::none;  // and what it permits
    std::string guest_silence;  // why the guest gave no answer; empty: it answered, or was not asked
    api::Time now;
};

enum class Step {
    nothing,
    add_finalizer,
    adopt,              // takes over a machine of the Go operator if it is proven to be the claim's
    admit,              // reserves a place within the limits, if the claim's pool has not
    forget_statements,  // takes off what a person said of the machine of an earlier attempt
    launch,             // takes the machine one step nearer to running
    register_node,      // writes labels, taints, providerID; then status.nodeName
    put_back,           // restores labels and taints that others removed or overwrote
    discard_boot_data,  // after token and boot image have served
    confirm_node_gone,  // the cache lost the Node: asks the API server
    look_for_node,      // the cache has no Node yet and the machine will be removed: asks the API server
    taint_node,
    untaint_node,  // back in service
    drain,
    switch_power,   // part of a power cycle
    start_machine,  // it may be off although no one switched it off
    remove_machine,
    stop_machine,     // keeps it for inspection
    release_machine,  // deletionPolicy Retain: keeps the machine, which we no longer manage
    release_node,
    delete_node,
    revoke_token,
    drop_finalizer,
    delete_claim,
};

struct Decision {
    Step step = Step::nothing;
    ClaimStatus status;
    std::optional<api::Time> look_again;  // nullopt: when something changes
    bool only_chooses = false;            // the step changes nothing outside
};

Decision decide(const Situation& situation);

// reason of Launched for a deleted claim that lost its status, while its machine is being searched
inline constexpr std::string_view kMachineSought = "MachineSought";

// Reports whether the claim may have a machine that its status does not show. Someone replaced the status,
// or restored the claim without it or with an older one.
bool may_have_lost_status(const Situation& situation);

// ---- parts of decide(), one per stage
Decision decide_launch(const Situation& situation);
Decision decide_registration(const Situation& situation);
Decision decide_service(const Situation& situation);
// Carries out what was decided about a node in service: condition Disrupted or a permitted power cycle.
// Reverts what was undone. Returns the step that this needs, or `nothing`.
Step carry_out_disruption(const Situation& situation, ClaimStatus& status);
// Requests a look at the machine of a Node that is not Ready, if no other step is due.
void watch_power(const Situation& situation, Decision& decision);
// Records that the machine is kept until a person decides about the volumes on its disk.
// `why` is the reason for its removal.
void keep_for_volumes(ClaimStatus& status, const Situation& situation, const std::string& why);
// Removes node, machine and token. `done` is the decision once nothing is left.
Decision decide_cleanup(const Situation& situation, const Decision& done);
Decision decide_removal(const Situation& situation);

// Failed claims are kept this long, so that people can read them.
inline constexpr auto kFailedClaimsKept = std::chrono::hours{1};

// Reports whether the user declares the machine gone, by the claim's annotation or the Node's out-of-service
// taint
// (https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown).
bool stated_gone(const Situation& situation);

// ---- how the outcome of a step changes the status
ClaimStatus after_ensure(const Situation& situation, const providers::EnsureResult& result);
// Keeps the launch at its present step and reports the failure in its condition.
ClaimStatus after_failed_launch(const Situation& situation, std::string_view reason,
                                const std::string& message);
// Records that the provider or the boot data's source did not answer. If the cache shows meanwhile that the
// request is done, the error no longer matters.
ClaimStatus after_error(const Situation& situation, std::string_view reason, const std::string& message);
// Reports in the condition of the claim's stage that the API server refuses a request
// (missing right or invalid label).
ClaimStatus after_refusal(const Situation& situation, const std::string& message);
// Waits until the taint had time to reach the scheduler, which could otherwise still bind a pod.
ClaimStatus after_drain(const Situation& situation, const DrainProgress& progress);
// Returns what a drain for this claim may do. Its deadline is the claim's own
// or, for a disruption, the pool's.
DrainRequest drain_request(const Situation& situation);
// Records that the API server knows no Node of the machine. The machine is removed, which cannot be undone.
ClaimStatus after_vain_search(const Situation& situation);
ClaimStatus after_removal(const Situation& situation, const providers::RemoveResult& result);

// These are reasons of the condition PowerCycled. It is False while the
// cycle runs and True when it has ended.
inline constexpr std::string_view kSwitchingOff = "SwitchingOff";
inline constexpr std::string_view kSwitchingOn = "SwitchingOn";
inline constexpr std::string_view kSwitchedOn = "SwitchedOn";
inline constexpr std::string_view kPowerFailed = "PowerFailed";

}  // namespace controllers::claim
