#include "controllers/state/losses.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/backoff.hpp"
#include "base/text.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/limits/limits.hpp"

namespace controllers {

using api::v1alpha1::Losses;
using api::v1alpha1::PoolStatus;

namespace {

constexpr std::chrono::hours kQuietTime{1};
constexpr std::chrono::minutes kProvenAfter{2};
constexpr std::size_t kMostClaims = 256;       // limit in a status
constexpr std::size_t kLongestMessage = 2048;  // share of the 4096 bytes in a status

// Returns the number that the pool gave the claim; -1: someone else created it.
std::int64_t sequence_of(const NodeSmithClaim& claim) {
    if (!limits::is_created_by_pool(claim)) return -1;
    const auto& key = claim.spec.idempotencyKey;
    const auto digits = key.substr(key.rfind('/') + 1);
    std::int64_t sequence = -1;
    std::from_chars(digits.data(), digits.data() + digits.size(), sequence);
    return sequence;
}

api::Time pause_end(api::Time now, const api::v1alpha1::Retry& retry, int rounds) {
    const base::Backoff backoff{retry.initialBackoff.value, retry.maxBackoff.value};
    return api::Time(now.at + std::chrono::ceil<std::chrono::seconds>(backoff.after(rounds)));
}

bool is_counted_loss(const std::optional<Losses>& losses, const std::string& uid) {
    return losses && std::ranges::find(losses->claims, uid) != losses->claims.end();
}

void count_one(const NodeSmithPool& pool, const NodeSmithClaim& claim, const Loss& loss, Losses& losses,
               api::Time now) {
    ++losses.count;
    if (!losses.since) losses.since = now;
    losses.lastTime = now;
    losses.reason = loss.reason;
    losses.message = base::shortened(loss.message, kLongestMessage);
    losses.claims.push_back(claim.metadata.uid);
    if (losses.claims.size() > kMostClaims) losses.claims.erase(losses.claims.begin());
    // Machines created before the last round are lost once each. A later one shows
    // that the next will be lost too.
    if (losses.rounds > 0 && sequence_of(claim) < losses.sequence) return;
    ++losses.rounds;
    losses.sequence = pool.status.nextClaimSequence;
    losses.nextRetryTime = pause_end(now, pool.spec.scaleUp.retry, losses.rounds);
}

// Resets the series, but keeps the counted claims. A claim whose machine cannot be removed
// stays, and must not be counted again.
void forget_series(Losses& losses) {
    Losses rest;
    rest.claims = std::move(losses.claims);
    losses = std::move(rest);
}

// Describes the losses; the kind of the last one alone is recorded.
std::string what_was_taken(const Losses& losses) {
    if (losses.count > 1) return std::to_string(losses.count) + " of the pool's Nodes, machines or claims";
    if (losses.reason == reasons::kMachineVanished) return "a machine of the pool";
    return losses.reason == reasons::kClaimDeleted ? "a claim of the pool" : "a Node object of the pool";
}

}  // namespace

std::optional<Loss> loss_of(const NodeSmithClaim& claim, const NodeSmithPool& pool) {
    const auto& all = claim.status.conditions;
    if (pool.metadata.deletionTimestamp) return std::nullopt;
    const auto* disrupted = api::find_condition(all, conditions::kDisrupted);
    if (disrupted && disrupted->status == ConditionStatus::True) {
        for (const auto reason : {reasons::kNodeDeleted, reasons::kMachineVanished})
            if (disrupted->reason == reason) return Loss{reason, disrupted->message};
        return std::nullopt;
    }
    const bool was_deleted = claim.metadata.deletionTimestamp && limits::is_created_by_pool(claim) &&
                             api::is_true(all, conditions::kLaunched) &&
                             !api::is_true(all, conditions::kFailed);
    if (!was_deleted) return std::nullopt;
    return Loss{reasons::kClaimDeleted,
                "claim " + claim.metadata.name + " was deleted, but not by the operator"};
}

bool is_uncounted_loss(const NodeSmithClaim& claim, const NodeSmithPool& pool) {
    return loss_of(claim, pool) && !is_counted_loss(pool.status.losses, claim.metadata.uid);
}

void count_losses(const NodeSmithPool& pool, const ClaimPointers& claims, PoolStatus& status, api::Time now) {
    if (const auto end = end_of_losses(status); end && *end <= now) forget_series(*status.losses);
    std::set<std::string> there;
    for (const auto& claim : claims) {
        there.insert(claim->metadata.uid);
        const auto loss = loss_of(*claim, pool);
        if (!loss || is_counted_loss(status.losses, claim->metadata.uid)) continue;
        if (!status.losses) status.losses.emplace();
        count_one(pool, *claim, *loss, *status.losses, now);
    }
    if (!status.losses) return;
    std::erase_if(status.losses->claims, [&](const std::string& uid) { return !there.contains(uid); });
    if (status.losses->count == 0 && status.losses->claims.empty()) status.losses.reset();
    if (!status.losses) return;
    // A wrong clock must not make the pool wait forever.
    auto& next = status.losses->nextRetryTime;
    if (next) next = std::min(*next, pause_end(now, pool.spec.scaleUp.retry, status.losses->rounds));
}

std::optional<api::Time> end_of_losses(const PoolStatus& status) {
    if (!status.losses || !status.losses->lastTime) return std::nullopt;
    const auto last = std::max(*status.losses->lastTime, status.losses->nextRetryTime.value_or(api::Time{}));
    return api::Time(last.at + kQuietTime);
}

bool pauses_after_losses(const PoolStatus& status, api::Time now) {
    return status.losses && status.losses->nextRetryTime && now < *status.losses->nextRetryTime;
}

std::string losses_text(const Losses& losses) {
    auto text = "someone other than the operator removed " + what_was_taken(losses) + " since " +
                (losses.since ? losses.since->str() : std::string("a while ago"));
    if (losses.rounds > 1)
        text += ", including a replacement " + std::to_string(losses.rounds - 1) +
                (losses.rounds == 2 ? " time" : " times");
    text += "; the last: " + losses.message;
    if (losses.reason == reasons::kMachineVanished)
        text += "; the task log of its host shows who removed the machine";
    if (losses.reason == reasons::kClaimDeleted)
        text += "; the API server's audit log shows who deleted it (verb delete, resource nodesmithclaims)";
    return text;
}

namespace {

// Reports whether its failed machine can be removed only after a person acts, so
// that it never comes into service.
bool waits_for_a_person(const NodeSmithClaim& claim) {
    const auto* deleted = api::find_condition(claim.status.conditions, conditions::kMachineDeleted);
    return deleted && deleted->status == ConditionStatus::False && deleted->reason != reasons::kDeleting &&
           deleted->reason != reasons::kAttemptFailed;
}

}  // namespace

Probe probe_of(const NodeSmithPool& pool, const ClaimPointers& claims, api::Time now) {
    Probe probe;
    const auto& losses = pool.status.losses;
    if (!losses || losses->rounds < 2) return probe;
    probe.is_needed = true;
    for (const auto& claim : claims) {
        const auto state = state_of(*claim);
        const bool lives = state == ClaimState::pending || state == ClaimState::ready;
        if (!lives || waits_for_a_person(*claim) || sequence_of(*claim) < losses->sequence ||
            loss_of(*claim, pool))
            continue;
        probe.claim = claim->metadata.name;
        const auto since = api::true_since(claim->status.conditions, conditions::kInitialized);
        probe.proven_at = since ? std::optional(api::Time(since->at + kProvenAfter)) : std::nullopt;
        if (probe.proven_at && *probe.proven_at <= now) return Probe{};
    }
    return probe;
}

std::string probe_text(const Probe& probe) {
    return "someone else removed the replacements, too, so machines are created one at a time: the next one "
           "after the machine of claim " +
           probe.claim + " has been in service for two minutes";
}

}  // namespace controllers
