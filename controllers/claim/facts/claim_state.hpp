// Reads and writes the state of a claim, which is its conditions. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controllers/cache/kinds.hpp"

namespace controllers::claim {

using api::v1alpha1::ClaimPhase;
using api::v1alpha1::ClaimStatus;

void set(ClaimStatus& status, std::string_view type, ConditionStatus value, std::string_view reason,
         std::string message, api::Time now);

// Returns when the condition got its present status; nullopt: it does not exist.
std::optional<api::Time> since(const ClaimStatus& status, std::string_view type);
bool has_reason(const ClaimStatus& status, std::string_view type, std::string_view reason);
// Reports whether the claim is not launched for that reason.
bool waits_for(const NodeSmithClaim& claim, std::string_view reason);
bool is_true(const NodeSmithClaim& claim, std::string_view type);
// Reports whether the claim was created by the Go operator: it names a machine but has none of our data.
bool is_unadopted(const ClaimStatus& status);
// Reports whether the machine is not removed before a person says whose a Node with its system UUID is.
bool waits_for_owner_of_node(const NodeSmithClaim& claim);
// Reports whether the claim belongs to a pool, whose settings apply to it. This
// operator or the Go operator created it.
bool is_owned_by_pool(const NodeSmithClaim& claim);

// Reports whether the claim's machine is gone or being removed, because it failed or the claim is deleted.
bool loses_machine(const NodeSmithClaim& claim);
// Reports whether the claim or its present machine will never come into service.
bool is_leaving(const NodeSmithClaim& claim);
// Returns the key of the NodeSmithProvider of the claim's machine.
inline api::ObjectKey provider_of(const NodeSmithClaim& claim) {
    return {claim.metadata.namespace_, claim.status.providerRef};
}

// Adds whole seconds, as times in the API have. An event may come up to a second early.
api::Time later(api::Time time, api::Duration wait);

// Reason of MachineDeleted: the machine is gone, and finalizers of other programs keep its Node.
inline constexpr std::string_view kNodeTerminating = "NodeTerminating";

// Records what the Node offers. Device plugins may offer more kinds of resources than a status holds, and the
// API server would refuse the whole status. The kubelet's own resources are always recorded.
void note_resources(ClaimStatus& status, const api::Node& node);

// Returns the phase for the PHASE column.
ClaimPhase phase_of(const NodeSmithClaim& claim);
// Returns the size for the SIZE column: "4c/8Gi", "2c/1536Mi".
std::string size_text(const api::v1alpha1::Size& size);

// Failure describes an attempt that cannot succeed. Its machine must be removed before the next one or, after
// the last one, before the claim is at rest. `host` is the host at fault, otherwise empty.
struct Failure {
    std::string reason;
    std::string message;
    std::string host;
    bool is_excused = false;  // it does not count as an attempt, while such failures are few
    bool is_refused = false;  // the provider made no machine
};
// Excused attempts beyond this number count like others, because an endless series helps no one.
inline constexpr std::int32_t kMostExcused = 10;
// Reports whether a machine of this attempt or of an earlier one ran.
bool has_run(const ClaimStatus& status);
void fail_attempt(ClaimStatus& status, const Failure& failure, std::int32_t max_attempts, api::Time now);
// Fails the claim because no host takes the machine and waiting has ended. It blames neither pool nor host.
void fail_for_room(ClaimStatus& status, std::string_view reason, const std::string& message, api::Time now);
// Forgets the machine's place, which it no longer has at its provider.
void forget_place(ClaimStatus& status);
// The longest pause after the provider made no machine. Such a pause waits for an obstacle, and another try
// costs no machine.
inline constexpr std::chrono::minutes kLongestRefusedPause{1};
// Returns the pause before another try, which doubles with the number of failures.
std::chrono::seconds pause_after(const api::v1alpha1::Retry& retry, std::int32_t failures, bool is_refused);
// Restarts after the failed attempt's machine is gone, with a pause that grows with the attempts.
void forget_attempt(ClaimStatus& status, const api::v1alpha1::Retry& retry, api::Time now);

}  // namespace controllers::claim
