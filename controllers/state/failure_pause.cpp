#include "controllers/state/failure_pause.hpp"

#include <algorithm>

#include "base/backoff.hpp"
#include "base/text.hpp"
#include "controllers/claim/facts/boot_rights.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/template_hash.hpp"
#include "controllers/limits/limits.hpp"
#include "controllers/provisioning/facts/room.hpp"

namespace controllers {

using api::v1alpha1::PoolStatus;

namespace {

// It differs from each fingerprint.
constexpr const char* kOlderConfiguration = "older";

std::optional<api::Time> failed_at(const NodeSmithClaim& claim) {
    // A lack of room for one size says nothing about others.
    if (provisioning::failed_for_room(claim)) return std::nullopt;
    return api::true_since(claim.status.conditions, conditions::kFailed);
}

// An earlier attempt of the claim may have had a machine that did not join.
bool is_refused(const NodeSmithClaim& claim) {
    return claim.status.lastFailure && claim.status.lastFailure->refused && !claim::has_run(claim.status);
}

// Returns the claim that failed last. Of several, it prefers one that had a machine, because that one calls
// for the longer pause.
const NodeSmithClaim* last_failed(const ClaimPointers& claims) {
    const NodeSmithClaim* last = nullptr;
    for (const auto& claim : claims) {
        const auto failed = failed_at(*claim);
        if (!failed) continue;
        const auto latest = last ? failed_at(*last) : std::nullopt;
        if (latest < failed || (latest == failed && !is_refused(*claim))) last = claim.get();
    }
    return last;
}

// Returns a fingerprint of what decides whether the pool's machines can be made and can join.
std::string configuration_of(const PoolObservation& facts) {
    if (!facts.provider) return {};
    auto pool = facts.object;
    pool.spec.bootstrap = bootstrap_of(pool, facts.manager);
    return claim::template_hash(pool, facts.provider) + "/" +
           std::to_string(facts.provider->metadata.generation.value_or(0));
}

// A claim of older settings may fail after they were corrected. It says nothing about the present ones.
bool is_outdated(const PoolObservation& facts, const NodeSmithClaim& claim) {
    const auto& hash = claim.status.templateHash;
    return facts.provider && claim::is_comparable(hash) &&
           hash != claim::template_hash(facts.object, facts.provider);
}

bool has_changed(const PoolObservation& facts, const PoolStatus& status) {
    if (status.failedConfiguration.empty()) return false;
    const auto now = configuration_of(facts);
    return !now.empty() && now != status.failedConfiguration;
}

// Reports whether other pools' machines join again at the same provider. Machines that joined while the
// failed one was tried prove that its obstacle is another one.
bool works_again_for_others(const PoolObservation& facts, const PoolStatus& status) {
    const auto* failed = last_failed(facts.claims);
    if (!failed || failed_at(*failed) != status.lastScaleFailureTime) return false;
    bool is_over = false;
    for (const auto& joined : facts.others_joined) {
        if (*status.lastScaleFailureTime < joined)
            is_over = true;
        else if (failed->metadata.creationTimestamp <= joined)
            return false;
    }
    return is_over;
}

// Reports whether a claim of the pool itself is about to get its machine.
bool is_tried(const NodeSmithClaim& claim) {
    const auto& all = claim.status.conditions;
    return limits::is_created_by_pool(claim) && !claim.metadata.deletionTimestamp &&
           claim.metadata.creationTimestamp && !api::is_true(all, conditions::kFailed) &&
           !api::is_true(all, conditions::kRegistered) && !provisioning::lacks_room(claim);
}

void note_last_failure(const PoolObservation& facts, PoolStatus& status) {
    const auto* failed = last_failed(facts.claims);
    if (!failed) return;
    status.lastFailureRefused = is_refused(*failed);
    status.failedConfiguration = is_outdated(facts, *failed) ? kOlderConfiguration : configuration_of(facts);
}

}  // namespace

void count_failures(const PoolObservation& facts, PoolStatus& status) {
    const auto counted_until = status.lastScaleFailureTime;
    std::optional<api::Time> last_success;
    for (const auto& claim : facts.claims) {
        if (const auto failed = failed_at(*claim); failed && (!counted_until || *counted_until < *failed)) {
            base::count_up(status.consecutiveFailures);
            status.lastScaleFailureTime = std::max(status.lastScaleFailureTime, failed);
        }
        if (!provisioning::failed_for_room(*claim))
            last_success =
                std::max(last_success, api::true_since(claim->status.conditions, conditions::kRegistered));
    }
    if (counted_until != status.lastScaleFailureTime) note_last_failure(facts, status);
    if (last_success && status.lastScaleFailureTime && *status.lastScaleFailureTime <= *last_success)
        status.consecutiveFailures = 0;
    status.nextRetryTime.reset();
    if (status.consecutiveFailures == 0 || !status.lastScaleFailureTime) {
        status.lastFailureRefused = false;
        status.failedConfiguration.clear();
        return;
    }
    // Settings that were changed while each claim was tried end no pause, but keep it short.
    const bool was_older = status.failedConfiguration == kOlderConfiguration;
    if ((has_changed(facts, status) && !was_older) || works_again_for_others(facts, status)) return;
    const auto failures = was_older ? 1 : status.consecutiveFailures;
    const auto wait =
        claim::pause_after(facts.object.spec.scaleUp.retry, failures, status.lastFailureRefused);
    status.nextRetryTime = api::Time(status.lastScaleFailureTime->at + wait);
}

std::vector<api::Time> joined_of_others(const Informers& informers, const NodeSmithPool& pool) {
    const kube::ObjectKey provider{pool.metadata.namespace_, pool.spec.providerRef};
    const auto own = informers.claims.store().by_index(kClaimsByPool, api::key_of(pool).str());
    std::vector<api::Time> times;
    if (pool.status.consecutiveFailures == 0 && !last_failed(own)) return times;
    for (const auto& [key, claim] : informers.claims.store().all()) {
        if (claim->spec.poolRef == pool.metadata.name || claim::provider_of(*claim) != provider) continue;
        if (const auto joined = api::true_since(claim->status.conditions, conditions::kRegistered))
            times.push_back(*joined);
    }
    return times;
}

std::string last_failure(const ClaimPointers& claims) {
    const NodeSmithClaim* last = nullptr;
    for (const auto& claim : claims) {
        const bool counts = failed_at(*claim) && claim->status.lastFailure;
        if (counts && (!last || last->status.lastFailure->time < claim->status.lastFailure->time))
            last = claim.get();
    }
    return last ? "; the last was " + last->metadata.name + ": " + last->status.lastFailure->message : "";
}

std::string note_on_refusals(const PoolStatus& status) {
    if (!status.lastFailureRefused) return {};
    return "; the provider made no machine for the last one, so another is tried at least once a minute";
}

Trial trial_of(const NodeSmithPool& pool, const ClaimPointers& claims, api::Time now) {
    Trial trial;
    const auto& status = pool.status;
    if (status.consecutiveFailures == 0 || !status.lastScaleFailureTime) return trial;
    const auto grown = claim::pause_after(pool.spec.scaleUp.retry, status.consecutiveFailures, false);
    const api::Time grown_end(status.lastScaleFailureTime->at + grown);
    // Where each try costs a machine, the next failure makes the pause longer than the one that is over.
    if (!status.lastFailureRefused && grown_end <= now) return trial;
    trial.is_needed = true;
    for (const auto& claim : claims) {
        const auto runs_since = api::true_since(claim->status.conditions, conditions::kLaunched);
        // A machine that runs was not refused. Whether it joins is seen later.
        if (status.lastFailureRefused && runs_since && *status.lastScaleFailureTime < *runs_since) return {};
        if (!is_tried(*claim)) continue;
        const auto ends = status.lastFailureRefused
                              ? claim->metadata.creationTimestamp->at + claim::kLongestRefusedPause
                              : grown_end.at;
        if (ends <= now.at || (trial.ends && ends <= trial.ends->at)) continue;
        trial.claim = claim->metadata.name;
        trial.ends = api::Time(ends);
    }
    return trial;
}

std::string trial_text(const NodeSmithPool& pool, const Trial& trial) {
    return base::counted(pool.status.consecutiveFailures, "claim") +
           " failed in a row, so claims are created one at a time: the next one " +
           (trial.claim.empty() ? std::string("once the present one is created")
                                : "once the machine of claim " + trial.claim + " is there") +
           (trial.ends ? ", at the latest at " + trial.ends->str() : "");
}

}  // namespace controllers
