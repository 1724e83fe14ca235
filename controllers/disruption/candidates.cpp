#include "controllers/disruption/candidates.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/fleet.hpp"

namespace controllers::disruption {

using api::v1alpha1::DriftPolicy;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithPool;
using api::v1alpha1::NodeSmithProvider;
using api::v1alpha1::RepairAction;
using api::v1alpha1::ScaleDownPolicy;
namespace conditions = api::conditions;

namespace {

constexpr std::chrono::seconds kSettlingIn{5};

constexpr std::array kOrder{Kind::Unhealthy, Kind::Evacuation, Kind::Empty,
                            Kind::Drifted,   Kind::Expired,    Kind::Underutilized};

void look_at(Candidacies& result, std::optional<api::Time> when) {
    if (when && (!result.look_again || *when < *result.look_again)) result.look_again = when;
}

// For a pool, whose present wishes hold; also true for claims of the Go operator.
bool was_bought(const NodeSmithClaim& claim) {
    const auto* owner = api::controller_of(claim.metadata);
    return owner && owner->kind == NodeSmithPool::kResource.kind;
}

// Ready, or not Ready for a while.
bool was_in_service(const NodeSmithClaim& claim) {
    const auto state = state_of(claim);
    return (state == ClaimState::ready || state == ClaimState::pending) &&
           api::is_true(claim.status.conditions, conditions::kInitialized);
}

void judge_health(Candidacies& result, const NodeFacts& facts, api::Time now) {
    const auto& repair = facts.pool.spec.disruption.repair;
    auto since = not_ready_since(facts.node);
    if (repair.action == RepairAction::None || !since) return;
    // After it was switched off and on it has as long again.
    const auto* cycled = api::find_condition(facts.claim.status.conditions, conditions::kPowerCycled);
    const bool waits = cycled && cycled->status == api::ConditionStatus::True &&
                       end_of(cycled->lastTransitionTime, repair.notReadyFor, now);
    if (waits) since = std::max(since, cycled->lastTransitionTime);
    if (facts.machine_stopped && !waits) {
        result.list.push_back({Kind::Unhealthy, "the node's machine is switched off"});
    } else if (const auto end = end_of(since, repair.notReadyFor, now)) {
        look_at(result, end);
    } else {
        result.list.push_back({Kind::Unhealthy, "the node is not Ready since " + since->str()});
    }
}

void judge_expiry(Candidacies& result, const NodeFacts& facts, api::Time now) {
    const auto& own = facts.claim.spec.expireAfter;
    const auto& wish = was_bought(facts.claim) || !own ? facts.pool.spec.disruption.expireAfter : *own;
    if (!wish.duration || wish.duration->value <= std::chrono::nanoseconds{0}) return;
    if (const auto end = end_of(facts.claim.metadata.creationTimestamp, *wish.duration, now)) {
        look_at(result, end);
    } else {
        result.list.push_back(
            {Kind::Expired, "the node is older than " + wish.duration->str() + " (disruption.expireAfter)"});
    }
}

void judge_use(Candidacies& result, const NodeFacts& facts, api::Time now) {
    const auto& scale_down = facts.pool.spec.scaleDown;
    if (scale_down.policy != ScaleDownPolicy::WhenEmptyOrUnderutilized || facts.evictable_pods == 0) return;
    const auto& unneeded = facts.unneeded_since;
    const auto& spare = facts.spare_since;
    if (is_hardly_used(facts, now)) {
        result.list.push_back(
            {Kind::Underutilized, "less than " + std::to_string(scale_down.utilizationThresholdPercent) +
                                      " % of the node is in use since " + unneeded->str()});
    } else if (spare && !end_of(spare, scale_down.unneededDuration, now)) {
        result.list.push_back({Kind::Underutilized, "the pods of the pool need fewer nodes"});
    } else {
        look_at(result, end_of(unneeded, scale_down.unneededDuration, now));
        look_at(result, end_of(spare, scale_down.unneededDuration, now));
    }
}

// What is not in service, or just came to it, counts neither as empty nor as unneeded.
bool may_be_idle(const NodeFacts& facts, api::Time now) {
    return state_of(facts.claim) == ClaimState::ready &&
           api::is_true(facts.claim.status.conditions, conditions::kInitialized) && !settles_in(facts, now);
}

}  // namespace

int rank(Kind kind) {
    return static_cast<int>(std::ranges::find(kOrder, kind) - kOrder.begin());
}

std::optional<api::Time> not_ready_since(const api::Node& node) {
    const auto* ready = api::find_condition(node.status.conditions, conditions::kReady);
    if (ready && ready->status == api::ConditionStatus::True) return std::nullopt;
    if (ready && ready->lastTransitionTime) return ready->lastTransitionTime;
    return node.metadata.creationTimestamp.value_or(api::Time{});
}

Candidacies candidacies(const NodeFacts& facts, api::Time now) {
    Candidacies result;
    if (!was_in_service(facts.claim)) return result;
    judge_health(result, facts, now);
    if (!facts.evacuated.empty()) result.list.push_back({Kind::Evacuation, facts.evacuated});
    if (facts.empty_since && facts.pool.spec.scaleDown.policy != ScaleDownPolicy::Never)
        result.list.push_back({Kind::Empty, "the node is empty"});
    if (!facts.drift.empty() && facts.pool.spec.disruption.drift == DriftPolicy::Replace)
        result.list.push_back({Kind::Drifted, facts.drift});
    judge_expiry(result, facts, now);
    judge_use(result, facts, now);
    return result;
}

bool is_hardly_used(const NodeFacts& facts, api::Time now) {
    const auto& since = facts.unneeded_since;
    return since && !end_of(since, facts.pool.spec.scaleDown.unneededDuration, now);
}

bool is_candidate(const NodeFacts& facts, Kind kind, api::Time now) {
    return std::ranges::any_of(candidacies(facts, now).list,
                               [kind](const Candidacy& candidacy) { return candidacy.kind == kind; });
}

std::string drift_of(const NodeSmithPool& pool, const std::string& template_hash, const NodeSmithClaim& claim,
                     const api::Node& node) {
    const auto& made_from = claim.status.templateHash;
    // Adopted, or applied by a user and not launched by us: made from nothing that we know.
    if (made_from.empty()) return {};
    if (!template_hash.empty() && made_from != template_hash)
        return "the pool's or its provider's settings that shape the machine are others now";
    for (const auto& [key, value] : pool.spec.machineTemplate.labels) {
        // What depends on the host may change with it.
        if (value.find("{{") != std::string::npos) continue;
        const auto* found = api::find(node.metadata.labels, key);
        if (!found || *found != value)
            return "the node's label " + key + " is not \"" + value + "\" any more";
    }
    const auto& wanted = claim.spec.requirements.cpuCores;
    const auto has = node.status.capacity.find("cpu");
    if (wanted > 0 && has != node.status.capacity.end() && has->second.value() < wanted)
        return "the machine has " + base::counted(has->second.value(), "CPU") + " instead of " +
               std::to_string(wanted);
    return {};
}

std::string template_drift(const NodeSmithProvider& provider, const NodeSmithClaim& claim) {
    const auto& made_from = claim.status.templateRevision;
    const auto& templates = provider.status.templates;
    if (made_from.empty() || templates.empty()) return {};
    // A machine may have moved since it was made, so any host's template will do.
    const bool is_there =
        std::ranges::any_of(templates, [&](const auto& known) { return known.revision == made_from; });
    if (is_there) return {};
    return "the template that the machine was made from (" + made_from +
           ") was replaced, or holds something else now";
}

std::optional<base::Duration> settles_in(const NodeFacts& facts, api::Time now) {
    const auto ready = claim::since(facts.claim.status, conditions::kReady);
    if (!ready || !claim::is_true(facts.claim, conditions::kReady) || facts.empty_since ||
        facts.unneeded_since)
        return std::nullopt;
    const auto left = ready->at + kSettlingIn - now.at;
    return left.count() > 0 ? std::optional<base::Duration>(left) : std::nullopt;
}

std::optional<api::Time> empty_since(const NodeFacts& facts, api::Time now) {
    if (!may_be_idle(facts, now) || facts.evictable_pods > 0) return std::nullopt;
    return facts.empty_since ? facts.empty_since : now;
}

std::optional<api::Time> unneeded_since(const NodeFacts& facts, api::Time now) {
    const bool is_idle = facts.utilization_percent <
                         static_cast<double>(facts.pool.spec.scaleDown.utilizationThresholdPercent);
    if (!is_idle || !may_be_idle(facts, now)) return std::nullopt;
    return facts.unneeded_since ? facts.unneeded_since : now;
}

}  // namespace controllers::disruption
