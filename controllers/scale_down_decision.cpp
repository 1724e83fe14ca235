#include "controllers/scale_down_decision.hpp"

#include "controllers/control_plane.hpp"

namespace controllers {

using api::Time;
using api::v1alpha1::Mode;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::ScaleDownPolicy;
namespace reasons = api::reasons;
namespace conditions = api::conditions;

namespace {

Blocker blocker(std::string_view reason, std::string message, std::optional<Time> until = std::nullopt) {
    return {std::string(reason), std::move(message), until};
}

// nullopt: it has passed.
std::optional<Time> end_of(std::optional<Time> start, api::Duration wait, Time now) {
    if (!start || wait.value <= std::chrono::nanoseconds{0}) return std::nullopt;
    const Time end(start->at + std::chrono::ceil<std::chrono::seconds>(wait.value));
    if (now < end) return end;
    return std::nullopt;
}

bool says_true(const api::StringMap& annotations, std::string_view key) {
    const auto* value = api::find(annotations, key);
    return value && *value == "true";
}

// Also true for claims of the Go operator.
bool is_owned_by_a_pool(const NodeSmithClaim& claim) {
    const auto* owner = api::controller_of(claim.metadata);
    return owner && owner->kind == api::v1alpha1::NodeSmithPool::kResource.kind;
}

// "true", or a duration that counts from the Node's creation.
std::optional<Blocker> do_not_disrupt(const api::Node& node, Time now) {
    for (const auto key : {api::annotations::kDoNotDisrupt, api::annotations::kKarpenterDoNotDisrupt}) {
        const auto* value = api::find(node.metadata.annotations, key);
        if (!value) continue;
        auto found =
            blocker("DoNotDisrupt", "the node has the annotation " + std::string(key) + "=" + *value);
        if (*value == "true") return found;
        try {
            found.until = end_of(node.metadata.creationTimestamp, api::Duration::parse(*value), now);
        } catch (const std::invalid_argument&) {
            continue;  // "false", or a mistake: then nothing is protected
        }
        if (found.until) return found;
    }
    if (says_true(node.metadata.annotations, api::annotations::kScaleDownDisabled))
        return blocker("DoNotDisrupt", "the node has the annotation " +
                                           std::string(api::annotations::kScaleDownDisabled) + "=true");
    return std::nullopt;
}

std::optional<Blocker> too_early(const NodeRemovalFacts& facts, Time now) {
    const auto& scale_down = facts.pool.spec.scaleDown;
    if (const auto end = end_of(facts.claim.status.emptySince, scale_down.emptyGracePeriod, now))
        return blocker("EmptyGracePeriod",
                       "the node is empty for less than " + scale_down.emptyGracePeriod.str() +
                           " (scaleDown.emptyGracePeriod)",
                       end);
    if (const auto end = end_of(facts.node.metadata.creationTimestamp, scale_down.minNodeAge, now))
        return blocker("MinNodeAge",
                       "the node is younger than " + scale_down.minNodeAge.str() + " (scaleDown.minNodeAge)",
                       end);
    return std::nullopt;
}

std::optional<Blocker> within_a_delay(const PoolRemovalFacts& facts, Time now) {
    const auto& scale_down = facts.pool.spec.scaleDown;
    const auto& status = facts.pool.status;
    if (const auto end = end_of(status.lastScaleUpTime, scale_down.stabilizationWindow, now))
        return blocker("StabilizationWindow",
                       "the pool scaled up less than " + scale_down.stabilizationWindow.str() +
                           " ago (scaleDown.stabilizationWindow)",
                       end);
    if (const auto end = end_of(status.lastScaleDownTime, scale_down.delayAfterDelete, now))
        return blocker("DelayAfterDelete",
                       "the pool removed a node less than " + scale_down.delayAfterDelete.str() +
                           " ago (scaleDown.delayAfterDelete)",
                       end);
    if (const auto end = end_of(facts.last_abort, scale_down.delayAfterFailure, now))
        return blocker("DelayAfterFailure",
                       "a removal in the pool failed less than " + scale_down.delayAfterFailure.str() +
                           " ago (scaleDown.delayAfterFailure)",
                       end);
    return std::nullopt;
}

}  // namespace

std::optional<Blocker> standing_blocker(const PoolRemovalFacts& facts) {
    if (facts.pool.metadata.deletionTimestamp)
        return blocker(reasons::kDeleting, "the pool is being deleted");
    if (!facts.manager) return blocker(reasons::kNotSelected, "no NodeSmithControlPlane lists the pool");
    const auto& manager = facts.manager->metadata.name;
    if (facts.manager->spec.mode == Mode::Paused)
        return blocker("Paused", "control plane " + manager + " is paused");
    if (facts.pool.spec.scaleDown.policy == ScaleDownPolicy::Never)
        return blocker("ScaleDownPolicy", "the pool's scaleDown.policy is Never");
    if (is_unhealthy(*facts.manager, facts.manager_fleet))
        return blocker(reasons::kTooManyUnready, "too many nodes are not Ready");
    return std::nullopt;
}

std::optional<Blocker> pool_blocker(const PoolRemovalFacts& facts, Time now) {
    if (auto standing = standing_blocker(facts)) return standing;
    if (auto delay = within_a_delay(facts, now)) return delay;
    const auto most = facts.pool.spec.scaleDown.maxConcurrent;
    if (most > 0 && facts.leaving >= most)
        return blocker(
            "MaxConcurrent",
            std::to_string(most) + " nodes of the pool are already leaving (scaleDown.maxConcurrent)");
    const auto rate = facts.manager->spec.rateLimits.maxRemovalsPerHour;
    if (rate > 0 && facts.removals_last_hour >= rate)
        return blocker("RateLimited", std::to_string(rate) + " nodes were removed in the last hour",
                       Time(now.at + std::chrono::minutes{1}));
    return std::nullopt;
}

std::optional<Blocker> node_blocker(const NodeRemovalFacts& facts, Time now) {
    if (facts.evictable_pods > 0) return blocker("NotEmpty", "pods run on the node");
    if (!is_ready(facts.node)) return blocker(reasons::kNodeNotReady, "the node is not Ready");
    if (facts.node.spec.unschedulable) return blocker("Cordoned", "the node was cordoned by a user");
    if (!is_owned_by_a_pool(facts.claim)) return blocker("AppliedByUser", "a user applied its claim");
    if (auto annotated = do_not_disrupt(facts.node, now)) return annotated;
    if (auto early = too_early(facts, now)) return early;
    if (facts.staying <= facts.pool.spec.limits.minNodes)
        return blocker("MinNodes", "the pool keeps at least " +
                                       std::to_string(facts.pool.spec.limits.minNodes) +
                                       " nodes (limits.minNodes)");
    if (!facts.needed_because.empty()) return blocker("Needed", facts.needed_because.front());
    return std::nullopt;
}

std::optional<Time> empty_since(const NodeSmithClaim& claim, const api::Node* node,
                                std::int64_t evictable_pods, Time now) {
    const bool serves = node && state_of(claim) == ClaimState::ready &&
                        api::is_true(claim.status.conditions, conditions::kInitialized);
    if (!serves || evictable_pods > 0) return std::nullopt;
    return claim.status.emptySince ? claim.status.emptySince : now;
}

bool is_being_removed(const NodeSmithClaim& claim) {
    const auto* disrupted = api::find_condition(claim.status.conditions, conditions::kDisrupted);
    return !claim.metadata.deletionTimestamp && disrupted &&
           disrupted->status == api::ConditionStatus::True && disrupted->reason == reasons::kEmpty;
}

bool is_staying(const NodeSmithClaim& claim) {
    const auto state = state_of(claim);
    return (state == ClaimState::pending || state == ClaimState::ready) &&
           !api::is_true(claim.status.conditions, conditions::kDisrupted);
}

bool has_leaving_taint(const api::Node& node) {
    return api::find_taint(node.spec.taints, api::taints::kDisrupted, api::taints::kNoSchedule) != nullptr;
}

api::Node back_in_service(const api::Node& node) {
    auto result = node;
    std::erase_if(result.spec.taints,
                  [](const api::Taint& taint) { return taint.key == api::taints::kDisrupted; });
    result.metadata.labels.erase(std::string(api::labels::kExcludeFromLoadBalancers));
    return result;
}

}  // namespace controllers
