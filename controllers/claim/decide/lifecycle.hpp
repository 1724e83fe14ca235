// What to do next with a claim: pure decisions over what is known. A pass records Decision::status if it
// differs, then takes the step; so whatever a step needs to be found again after a crash stands in the
// status before it is taken. What only chooses (a host) needs nothing to be found again, and its outcome is
// written together with that status. docs/states.md shows the states.
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

// Why something may not happen now, for a condition.
struct Hold {
    std::string reason;
    std::string message;
};

struct Situation {
    const NodeSmithClaim& claim;
    const NodeSmithPool* pool = nullptr;            // null: there is no such pool
    const NodeSmithProvider* provider = nullptr;    // null: there is none of that name
    const api::v1alpha1::HostSpec* host = nullptr;  // of bare metal
    const api::Node* node = nullptr;                // runs on the claim's machine
    std::string node_refusal;  // why a Node with the machine's identity is not its Node; empty: none has it
    std::string contest;       // which Nodes share the machine's system UUID; empty: none or one has it
    std::string name_taken;    // why no machine may get the claim's name; empty: it may
    std::vector<Deviation> deviations;          // what the Node should have and has not
    const api::Node* namesake = nullptr;        // bears the claim's name but runs on another machine
    bool is_superseded = false;                 // its machine is kept, and so is a younger one of its pool
    bool namesake_is_leftover = false;          // of an earlier attempt of this claim, whose machine is gone
    std::optional<Hold> launch_hold;            // nothing may be launched: pool not selected, paused, ...
    bool volumes_attached = false;              // to the node
    std::string held_volumes;                   // that hold the machine, in words; empty: none does
    std::set<std::string> tied_pods;            // UIDs of pods that use these
    MachineReports::Report machine;             // what garbage collection found out
    std::optional<DisruptionReports::Use> use;  // what the disruption controller found out
    DisruptionReports::Permission permission = DisruptionReports::Permission::none;  // and permits
    std::string guest_silence;  // why a guest that was asked told nothing; empty: it told, or was not
    api::Time now;
};

enum class Step {
    nothing,
    add_finalizer,
    adopt,              // a machine of the Go operator, if it is proven to be the claim's
    admit,              // a place within the limits, for a claim that no pool reserved one for
    launch,             // the machine one step nearer to running
    register_node,      // labels, taints, providerID; then status.nodeName
    put_back,           // labels and taints that others took off the Node or overwrote
    discard_boot_data,  // token and boot image have served
    confirm_node_gone,  // the cache has no Node any more: ask the API server
    look_for_node,      // the cache has none yet, and the machine is about to go: ask the API server
    taint_node,
    untaint_node,  // back in service
    drain,
    switch_power,   // of a power cycle
    start_machine,  // it may be off although nobody switched it off
    remove_machine,
    stop_machine,     // it stays for a look
    release_machine,  // deletionPolicy Retain: it stays, and we no longer manage it
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

// Launched, of a claim that is being deleted and lost its status: whether it has a machine is being found
// out.
inline constexpr std::string_view kMachineSought = "MachineSought";

// The claim may have a machine of which its status tells nothing: somebody replaced the status, or restored
// the claim without one.
bool may_have_lost_status(const Situation& situation);
// Reasons of the condition Launched of a claim that has lost its status, while it is not known which machine
// is its own.
inline constexpr std::string_view kMachineNotKnown = "MachineNotKnown";  // the provider could not be asked
inline constexpr std::string_view kMachineNotShown = "MachineNotShown";  // its Node is there, its machine not
inline constexpr std::string_view kSeveralMachines = "SeveralMachines";  // bear its mark
inline constexpr std::string_view kMarkOfOther = "MarkOfOtherMachine";   // what bears it has another UUID
bool has_doubtful_machine(const ClaimStatus& status);

// ---- parts of decide(), one per stage
Decision decide_launch(const Situation& situation);
Decision decide_registration(const Situation& situation);
Decision decide_service(const Situation& situation);
// What was decided about a node in service (condition Disrupted, a permitted power cycle) is carried out, and
// what was undone is taken back: the status and step that it asks for; `nothing` if it asks for none.
Step carry_out_disruption(const Situation& situation, ClaimStatus& status);
// Asks for a look at the machine of a Node that is not Ready, where nothing else is to be done.
void watch_power(const Situation& situation, Decision& decision);
// Notes that the machine is kept until a person decides about the volumes on its disk. `why`: what it would
// be removed for.
void keep_for_volumes(ClaimStatus& status, const Situation& situation, const std::string& why);
// Takes node, machine and token away; `done` is what follows when nothing is left.
Decision decide_cleanup(const Situation& situation, const Decision& done);
Decision decide_removal(const Situation& situation);

// Failed claims are kept this long to be read.
inline constexpr auto kFailedClaimsKept = std::chrono::hours{1};

// The user says that the machine is gone: the claim's annotation, or the Node's out-of-service taint
// (https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown).
bool stated_gone(const Situation& situation);

// ---- how the outcome of a step changes the status
ClaimStatus after_ensure(const Situation& situation, const providers::EnsureResult& result);
// The launch stands where it stood; the condition says what went wrong.
ClaimStatus after_failed_launch(const Situation& situation, std::string_view reason,
                                const std::string& message);
// The provider, or what a machine boots from, could not be asked. The cache may have heard meanwhile that
// what was asked for is done: then the error says nothing any more.
ClaimStatus after_error(const Situation& situation, std::string_view reason, const std::string& message);
// The API server refuses what we ask for (no permission, or an invalid label): said where the claim stands.
ClaimStatus after_refusal(const Situation& situation, const std::string& message);
// Not done before the taint had time to reach the scheduler, which could otherwise still bind a pod.
ClaimStatus after_drain(const Situation& situation, const DrainProgress& progress);
// What a drain for this claim may do. A deadline is the claim's own or, of a disruption, the pool's.
DrainRequest drain_request(const Situation& situation);
// The API server knows no Node of the machine: it is removed, and from here there is no way back.
ClaimStatus after_vain_search(const Situation& situation);
ClaimStatus after_removal(const Situation& situation, const providers::RemoveResult& result);

// Reasons of the condition PowerCycled: False while it is under way, True when it has ended.
inline constexpr std::string_view kSwitchingOff = "SwitchingOff";
inline constexpr std::string_view kSwitchingOn = "SwitchingOn";
inline constexpr std::string_view kSwitchedOn = "SwitchedOn";
inline constexpr std::string_view kPowerFailed = "PowerFailed";

}  // namespace controllers::claim
