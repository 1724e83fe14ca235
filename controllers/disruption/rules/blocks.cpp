#include "controllers/disruption/rules/blocks.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/label_rules.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/disruption/rules/budgets.hpp"
#include "controllers/state/acceptance.hpp"
#include "controllers/state/control_plane_status.hpp"

namespace controllers::disruption {

using api::Time;
using api::v1alpha1::Mode;

namespace {

using MaybeBlocker = std::optional<Blocker>;

Blocker blocker(std::string_view reason, std::string message, std::optional<Time> until = std::nullopt) {
    return {std::string(reason), std::move(message), until};
}

bool says_true(const api::StringMap& annotations, std::string_view key) {
    const auto* value = api::find(annotations, key);
    return value && *value == "true";
}

// Accepts "true", or a duration that counts from the Node's creation.
MaybeBlocker do_not_disrupt(const api::Node& node, Time now) {
    for (const auto key : {api::annotations::kDoNotDisrupt, api::annotations::kKarpenterDoNotDisrupt}) {
        const auto* value = api::find(node.metadata.annotations, key);
        if (!value) continue;
        auto found =
            blocker("DoNotDisrupt", "the node has the annotation " + std::string(key) + "=" + *value);
        if (*value == "true") return found;
        try {
            found.until = end_of(node.metadata.creationTimestamp, api::Duration::parse(*value), now);
        } catch (const std::invalid_argument&) {
            continue;  // "false", or a mistake: nothing is protected
        }
        if (found.until) return found;
    }
    if (says_true(node.metadata.annotations, api::annotations::kScaleDownDisabled))
        return blocker("DoNotDisrupt", "the node has the annotation " +
                                           std::string(api::annotations::kScaleDownDisabled) + "=true");
    return std::nullopt;
}

// Returns when the Node's use began: when it was created, but not before its claim recorded it. The API
// server's clock may have been wrong at the creation.
std::optional<Time> in_use_since(const NodeFacts& facts) {
    return std::max(facts.node.metadata.creationTimestamp,
                    api::true_since(facts.claim.status.conditions, api::conditions::kRegistered));
}

// Returns a blocker after a failed drain, because another one would evict pods without effect again.
MaybeBlocker after_a_failed_drain(const NodeFacts& facts, Time now) {
    const auto* disrupted = api::find_condition(facts.claim.status.conditions, api::conditions::kDisrupted);
    if (!disrupted || disrupted->status != api::ConditionStatus::False ||
        disrupted->reason != reasons::kDrainTimeout)
        return std::nullopt;
    const auto& delay = facts.pool.spec.scaleDown.delayAfterFailure;
    const auto end = end_of(disrupted->lastTransitionTime, delay, now);
    if (!end) return std::nullopt;
    return blocker("DelayAfterFailure",
                   "its drain was given up less than " + delay.str() + " ago (scaleDown.delayAfterFailure)",
                   end);
}

// Returns how long a pool keeps its nodes after it launched again what it had just removed. Its workload
// fluctuates, so it waits for some more windows.
std::optional<Time> end_of_flapping(const NodeSmithPool& pool, Time now) {
    constexpr int kWindows = 6;
    const auto& status = pool.status;
    if (!status.lastScaleUpTime || !status.lastScaleDownTime) return std::nullopt;
    const api::Duration pause = pool.spec.scaleDown.stabilizationWindow.value * kWindows;
    const auto between = status.lastScaleUpTime->at - status.lastScaleDownTime->at;
    const bool flaps = between >= std::chrono::seconds{0} && between < pause.value;
    return flaps ? end_of(status.lastScaleUpTime, pause, now) : std::nullopt;
}

MaybeBlocker within_a_delay(const PoolFacts& facts, Kind kind, Time now) {
    const auto& scale_down = facts.pool.spec.scaleDown;
    const auto& status = facts.pool.status;
    if (kind == Kind::Unhealthy) return std::nullopt;
    if (const auto end = end_of(facts.last_failure, scale_down.delayAfterFailure, now))
        return blocker("DelayAfterFailure",
                       "the replacement of a node of the pool failed less than " +
                           scale_down.delayAfterFailure.str() + " ago (scaleDown.delayAfterFailure)",
                       end);
    if (!is_scale_down(kind)) return std::nullopt;
    if (const auto end = end_of(status.lastScaleUpTime, scale_down.stabilizationWindow, now))
        return blocker("StabilizationWindow",
                       "the pool scaled up less than " + scale_down.stabilizationWindow.str() +
                           " ago (scaleDown.stabilizationWindow)",
                       end);
    if (const auto end = end_of_flapping(facts.pool, now))
        return blocker("Flapping", "the pool created a node shortly after it had removed one", end);
    if (const auto end = end_of(status.lastScaleDownTime, scale_down.delayAfterDelete, now))
        return blocker("DelayAfterDelete",
                       "the pool removed a node less than " + scale_down.delayAfterDelete.str() +
                           " ago (scaleDown.delayAfterDelete)",
                       end);
    return std::nullopt;
}

// Protects the pool from being emptied by a network outage.
MaybeBlocker too_many_unhealthy(const PoolFacts& facts) {
    constexpr std::int64_t kWhole = 100;
    const std::int64_t percent = facts.pool.spec.disruption.repair.maxUnhealthyPercent;
    const auto most = (facts.in_service * percent + kWhole - 1) / kWhole;
    if (facts.not_ready <= most) return std::nullopt;
    return blocker("TooManyUnhealthy", "more than " + std::to_string(percent) +
                                           " % of the pool's nodes are not Ready "
                                           "(disruption.repair.maxUnhealthyPercent)");
}

// Returns how many removals count against scaleDown.maxConcurrent. Repairing a broken node disrupts no
// healthy one, so repairs wait only for each other. A drain may wait for the very pods that run on a broken
// node, and a removal may never end.
std::int64_t leaving_for(const PoolFacts& facts, Kind kind) {
    return kind == Kind::Unhealthy ? facts.repairs : facts.leaving;
}

BudgetUse budget_use_for(const PoolFacts& facts, Kind kind) {
    const auto also_disrupted = kind == Kind::Unhealthy ? 0 : facts.not_ready;
    return {facts.in_service, leaving_for(facts, kind) + also_disrupted};
}

MaybeBlocker not_understood(const api::ObjectMeta& metadata, const std::string& what) {
    auto why = why_not_understood(metadata);
    if (why.empty()) return std::nullopt;
    return blocker(reasons::kUnknownValue, what + " is not understood: " + why);
}

bool answers_for_other_cluster(const NodeSmithProvider* provider) {
    const auto* ready =
        provider ? api::find_condition(provider->status.conditions, conditions::kReady) : nullptr;
    return ready && ready->reason == reasons::kOtherCluster;
}

// Blocks while the node is too young, or not empty for long enough, to be removed to save it.
MaybeBlocker age_blocker(const NodeFacts& facts, Kind kind, Time now) {
    const auto& scale_down = facts.pool.spec.scaleDown;
    if (!is_scale_down(kind)) return std::nullopt;
    if (kind == Kind::Empty) {
        if (const auto end = end_of(facts.empty_since, scale_down.emptyGracePeriod, now))
            return blocker("EmptyGracePeriod",
                           "the node has been empty for less than " + scale_down.emptyGracePeriod.str() +
                               " (scaleDown.emptyGracePeriod)",
                           end);
    }
    if (const auto end = end_of(in_use_since(facts), scale_down.minNodeAge, now))
        return blocker("MinNodeAge",
                       "the node is younger than " + scale_down.minNodeAge.str() + " (scaleDown.minNodeAge)",
                       end);
    return std::nullopt;
}

}  // namespace

MaybeBlocker standing_blocker(const PoolFacts& facts) {
    if (!facts.stale_kinds.empty())
        return blocker(reasons::kCacheStale, "the operator's view of " + facts.stale_kinds +
                                                 " is out of date: see its log and /readyz?verbose");
    if (facts.pool.metadata.deletionTimestamp)
        return blocker(reasons::kDeleting, "the pool is being deleted");
    if (auto problem = label_problem(facts.pool); problem.reason == reasons::kPoolLabelKeyReserved)
        return blocker(problem.reason, problem.message);
    if (!facts.manager) return blocker(reasons::kNotSelected, "no NodeSmithControlPlane lists the pool");
    if (auto unclear = not_understood(facts.pool.metadata, "the pool")) return unclear;
    if (auto unclear = not_understood(facts.manager->metadata, "the control plane")) return unclear;
    if (facts.provider)
        if (auto unclear = not_understood(facts.provider->metadata, "the provider")) return unclear;
    const auto& manager = facts.manager->metadata.name;
    if (facts.manager->spec.mode == Mode::Paused)
        return blocker("Paused", "control plane " + manager + " is paused");
    if (answers_for_other_cluster(facts.provider))
        return blocker(reasons::kOtherCluster, "the endpoint of provider " + facts.provider->metadata.name +
                                                   " belongs to another cluster than the nodes' machines");
    if (facts.provider && api::is_true(facts.provider->status.conditions, conditions::kOtherOperatorFound))
        return blocker(reasons::kOtherOperator,
                       "another operator owns the same machines: see the condition "
                       "OtherOperatorFound of provider " +
                           facts.provider->metadata.name);
    if (is_unhealthy(*facts.manager, facts.manager_counts))
        return blocker(reasons::kTooManyUnready, "too many nodes are not Ready");
    return std::nullopt;
}

bool is_outage(const MaybeBlocker& standing) {
    return standing && standing->reason == reasons::kTooManyUnready;
}

MaybeBlocker pool_blocker(const PoolFacts& facts, Kind kind, Time now) {
    if (auto standing = standing_blocker(facts)) return standing;
    if (kind == Kind::Unhealthy) {
        if (auto outage = too_many_unhealthy(facts)) return outage;
    }
    if (auto delay = within_a_delay(facts, kind, now)) return delay;
    const auto leaving = leaving_for(facts, kind);
    const auto most = facts.pool.spec.scaleDown.maxConcurrent;
    if (most > 0 && leaving >= most) {
        const auto bound =
            base::counted(most, "node") + " of the pool may be removed at a time (scaleDown.maxConcurrent)";
        if (kind == Kind::Unhealthy || facts.stuck < most) return blocker("MaxConcurrent", bound);
        return blocker("RemovalStuck", bound + ", and the removals under way are stuck: see their claims");
    }
    if (auto budget = budget_blocker(facts.pool.spec.disruption, kind, budget_use_for(facts, kind), now))
        return budget;
    const auto rate = facts.manager->spec.rateLimits.maxRemovalsPerHour;
    if (rate > 0 && facts.removals_last_hour >= rate)
        return blocker(
            std::string(reasons::kRateLimited),
            base::counted(rate, "node") + " may be removed in an hour (rateLimits.maxRemovalsPerHour)",
            Time(now.at + std::chrono::minutes{1}));
    return std::nullopt;
}

std::int64_t allowed_disruptions(const PoolFacts& facts, Kind kind, Time now) {
    if (standing_blocker(facts)) return 0;
    const auto& spec = facts.pool.spec;
    const auto use = budget_use_for(facts, kind);
    // Also parses the schedules, so that budget_room() does not throw.
    if (budget_blocker(spec.disruption, kind, use, now)) return 0;
    auto room = budget_room(spec.disruption, kind, use, now).value_or(facts.in_service);
    if (const auto most = spec.scaleDown.maxConcurrent; most > 0)
        room = std::min<std::int64_t>(room, most - leaving_for(facts, kind));
    return std::clamp<std::int64_t>(room, 0, facts.in_service);
}

MaybeBlocker volume_blocker(const NodeFacts& facts) {
    if (facts.held_volumes.empty()) return std::nullopt;
    return blocker(reasons::kLocalVolumes,
                   facts.held_volumes + " can be used on this node only: " + how_to_release_volumes());
}

MaybeBlocker node_blocker(const PoolFacts& pool, const NodeFacts& facts, Kind kind, Time now) {
    // Our view of these objects is outdated, or no basis for a removal.
    if (auto unclear = not_understood(facts.node.metadata, "the node")) return unclear;
    if (auto unclear = not_understood(facts.claim.metadata, "the claim")) return unclear;
    if (kind == Kind::Unhealthy) return std::nullopt;
    // The cache knows an older version of the pod, or none. The pod would be
    // counted as too small, or not at all.
    if (!facts.unreadable_pod.empty())
        return blocker("PodNotReadable", "pod " + facts.unreadable_pod +
                                             " on it cannot be decoded: its Event CannotBeDecoded names the "
                                             "field to correct");
    if (!is_ready(facts.node)) return blocker(reasons::kNodeNotReady, "the node is not Ready");
    if (kind != Kind::Evacuation)
        if (auto held = volume_blocker(facts)) return held;
    if (facts.node.spec.unschedulable && kind != Kind::Evacuation)
        return blocker("Cordoned", "the node was cordoned by a user");
    const bool was_asked_for = kind == Kind::Expired && facts.claim.spec.expireAfter;
    if (!claim::is_owned_by_pool(facts.claim) && !was_asked_for)
        return blocker("AppliedByUser", "a user created its claim");
    if (auto annotated = do_not_disrupt(facts.node, now)) return annotated;
    if (auto early = age_blocker(facts, kind, now)) return early;
    if (auto failed = after_a_failed_drain(facts, now)) return failed;
    // The machine would run on, and its Node would take pods in addition to its replacement.
    if (facts.claim.spec.deletionPolicy == api::v1alpha1::DeletionPolicy::Retain)
        return blocker(
            reasons::kRetained,
            "its machine would be kept (deletionPolicy: Retain), so removing the node would save nothing");
    if (kind == Kind::Empty && pool.staying <= facts.pool.spec.limits.minNodes)
        return blocker("MinNodes", "the pool keeps at least " +
                                       base::counted(facts.pool.spec.limits.minNodes, "node") +
                                       " (limits.minNodes)");
    return std::nullopt;
}

}  // namespace controllers::disruption
