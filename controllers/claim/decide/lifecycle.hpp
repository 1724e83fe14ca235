// Decides what to do next with a claim, as pure functions of what is known. A pass records Decision::status
// if it differs, then takes the step. So everything needed to find a step again after a crash is in the
// status beforehand. A step that only chooses (a host) needs no such record. Its outcome is written together
// with that status. docs/states.md shows the states.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/cache/kinds.hpp"
#include "controllers/claim/decide/situation.hpp"
#include "controllers/claim/facts/claim_state.hpp"

namespace controllers::claim {

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

// Records that the machine is kept until a person decides about the volumes on its disk.
// `why` is the reason for its removal.
void keep_for_volumes(ClaimStatus& status, const Situation& situation, const std::string& why);

// Failed claims are kept this long, so that people can read them.
inline constexpr auto kFailedClaimsKept = std::chrono::hours{1};

// Reports whether the user declares the machine gone, by the claim's annotation or the Node's out-of-service
// taint
// (https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown).
bool stated_gone(const Situation& situation);
// Reports whether the user declares the machine gone by the claim's annotation.
bool annotated_gone(const NodeSmithClaim& claim);

// Reports in the condition of the claim's stage that the API server refuses a request
// (missing right or invalid label).
ClaimStatus after_refusal(const Situation& situation, const std::string& message);

// These are reasons of the condition PowerCycled. It is False while the
// cycle runs and True when it has ended.
inline constexpr std::string_view kSwitchingOff = "SwitchingOff";
inline constexpr std::string_view kSwitchingOn = "SwitchingOn";
inline constexpr std::string_view kSwitchedOn = "SwitchedOn";
inline constexpr std::string_view kPowerFailed = "PowerFailed";

}  // namespace controllers::claim
