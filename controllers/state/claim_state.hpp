// Reading and writing the state of a claim, which is its conditions. Pure.
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

// When the condition got its present status; nullopt: there is no such condition.
std::optional<api::Time> since(const ClaimStatus& status, std::string_view type);
bool has_reason(const ClaimStatus& status, std::string_view type, std::string_view reason);
// It is not launched for that reason.
bool waits_for(const NodeSmithClaim& claim, std::string_view reason);
bool is_true(const NodeSmithClaim& claim, std::string_view type);
// It is of the Go project KubeNodeSmith: it names a machine that we know nothing else of.
bool is_unadopted(const ClaimStatus& status);
// Created for a pool, whose wishes hold for it: by us, or by the Go operator.
bool is_owned_by_pool(const NodeSmithClaim& claim);

// Its machine is being removed, or is gone: it failed, or the claim goes.
bool loses_machine(const NodeSmithClaim& claim);
// Neither it nor this machine of it is to come into service any more.
bool is_leaving(const NodeSmithClaim& claim);
// Of the NodeSmithProvider that its machine is at.
inline api::ObjectKey provider_of(const NodeSmithClaim& claim) {
    return {claim.metadata.namespace_, claim.status.providerRef};
}

// In whole seconds, as times in the API are: what is due may come up to a second early.
api::Time later(api::Time time, api::Duration wait);

// For the PHASE column.
ClaimPhase phase_of(const NodeSmithClaim& claim);
// For the SIZE column: "4c/8Gi", "2c/1536Mi".
std::string size_text(const api::v1alpha1::Size& size);

// The attempt cannot succeed: its machine has to be removed before the next one (or, after the last one,
// before the claim is at rest). `host` is where it failed if that host is to blame, else empty.
struct Failure {
    std::string reason;
    std::string message;
    std::string host;
    bool is_excused = false;  // it uses up no attempt, as long as there are few of that kind
};
// A series without an end helps nobody: beyond this many, excused attempts count like others.
inline constexpr std::int32_t kMostExcused = 10;
void fail_attempt(ClaimStatus& status, const Failure& failure, std::int32_t max_attempts, api::Time now);
// No host takes the machine, and none is waited for any longer. Not the fault of the pool or of a host.
void fail_for_room(ClaimStatus& status, std::string_view reason, const std::string& message, api::Time now);
// The machine has no place with its provider any more.
void forget_place(ClaimStatus& status);
// The machine of the failed attempt is gone: back to the start, after a pause that grows with the attempts.
void forget_attempt(ClaimStatus& status, const api::v1alpha1::Retry& retry, api::Time now);

}  // namespace controllers::claim
