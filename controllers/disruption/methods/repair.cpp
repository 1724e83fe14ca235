#include "controllers/disruption/methods/repair.hpp"

#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers::disruption {

using api::v1alpha1::RepairAction;

namespace {

// A node that needs another power cycle within this time is replaced.
constexpr auto kChanceLasts = std::chrono::hours{24};

}  // namespace

bool has_a_second_chance(const NodeFacts& facts, api::Time now) {
    if (facts.pool.spec.disruption.repair.action != RepairAction::PowerCycleThenReplace) return false;
    const auto* tried = api::find_condition(facts.claim.status.conditions, conditions::kPowerCycled);
    return !tried || !tried->lastTransitionTime || tried->lastTransitionTime->at + kChanceLasts <= now.at;
}

Candidacy find_unhealthy(const NodeFacts& facts, api::Time now) {
    const auto& repair = facts.pool.spec.disruption.repair;
    auto since = not_ready_since(facts.node, facts.claim, now);
    if (repair.action == RepairAction::None || !since) return {};
    // After a power cycle the node gets the same time again.
    const auto* cycled = api::find_condition(facts.claim.status.conditions, conditions::kPowerCycled);
    const bool waits = cycled && cycled->status == ConditionStatus::True &&
                       end_of(cycled->lastTransitionTime, repair.notReadyFor, now);
    if (waits) since = std::max(since, cycled->lastTransitionTime);
    if (facts.machine_stopped && !waits) return {"the node's machine is switched off", std::nullopt};
    if (const auto end = end_of(since, repair.notReadyFor, now)) return {"", end};
    return {"the node has not been Ready since " + since->str(), std::nullopt};
}

bool is_still_broken(const NodeFacts& facts, api::Time now) {
    return facts.pool.spec.disruption.repair.action != RepairAction::None &&
           not_ready_since(facts.node, facts.claim, now);
}

// Does not ask where the pods would go, because they run nowhere now.
std::vector<Command> judge_unhealthy(Pass& pass, Kind kind, const std::vector<Candidate>& candidates) {
    std::vector<Command> commands;
    for (const auto& candidate : candidates) {
        Command command{*candidate.member, kind, candidate.why, ""};
        command.switches_power = has_a_second_chance(candidate.member->facts, pass.view().now);
        commands.push_back(std::move(command));
        if (!pass.view().observes()) break;
    }
    return commands;
}

}  // namespace controllers::disruption
