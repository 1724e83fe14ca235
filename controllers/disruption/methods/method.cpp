#include "controllers/disruption/methods/method.hpp"

#include <algorithm>
#include <array>

#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/disruption/methods/consolidation.hpp"
#include "controllers/disruption/methods/repair.hpp"
#include "controllers/disruption/rules/drift_reasons.hpp"
#include "controllers/disruption/rules/outlook.hpp"

namespace controllers::disruption {

namespace {

// Reports whether the node is Ready, or has been not Ready for a while.
bool was_in_service(const NodeSmithClaim& claim) {
    const auto state = state_of(claim);
    return (state == ClaimState::ready || state == ClaimState::pending) &&
           api::is_true(claim.status.conditions, conditions::kInitialized);
}

// Returns why the node is kept: its pods would have no place. Otherwise `plan` describes their new places.
std::optional<Blocker> need_for(Pass& pass, const Member& member, Kind kind, std::string& plan) {
    if (auto refusal = pass.refusal_of(member, kind))
        return Blocker{"Needed", *std::move(refusal), std::nullopt};
    const auto place = pass.place_of(member);
    if (!place) return std::nullopt;
    const auto verdict = judge_departure(pass.solver(), pass.world().snapshot, {kind, {*place}});
    plan = verdict.message;
    if (verdict.outlook == Outlook::drain_first)
        return pod_blocker(member.pods, pod_rules(pass.view(), member, kind, true), pass.view().now);
    if (verdict.outlook == Outlook::clear || verdict.outlook == Outlook::wait) return std::nullopt;
    // The next event may make an empty node unneeded.
    if (kind != Kind::Empty) pass.refuse(member, kind, verdict.message);
    return Blocker{"Needed", verdict.message, std::nullopt};
}

// Returns the first candidate whose pods have a place elsewhere, now or on machines launched for them.
std::vector<Command> first_with_a_place(Pass& pass, Kind kind, const std::vector<Candidate>& candidates) {
    std::vector<Command> commands;
    for (const auto& candidate : candidates) {
        Command command{*candidate.member, kind, candidate.why, ""};
        if (auto why = need_for(pass, command.member, kind, command.plan)) {
            pass.keep(*candidate.member, kind, *std::move(why));
            continue;
        }
        commands.push_back(std::move(command));
        if (!pass.view().observes()) break;
    }
    return commands;
}

// Finds nodes on hosts that are evacuated, for maintenance or because they fail.
Candidacy find_evacuated(const NodeFacts& facts, api::Time) {
    return {facts.evacuated, std::nullopt};
}

// Finds nodes that no pod needs.
Candidacy find_empty(const NodeFacts& facts, api::Time) {
    const bool may_go = facts.pool.spec.scaleDown.policy != api::v1alpha1::ScaleDownPolicy::Never;
    return {facts.empty_since && may_go ? "the node is empty" : "", std::nullopt};
}

// Finds nodes that would be created differently now, or that a person wants replaced.
Candidacy find_drifted(const NodeFacts& facts, api::Time) {
    const bool counts = facts.pool.spec.disruption.drift == api::v1alpha1::DriftPolicy::Replace ||
                        !replacement_asked(facts.claim).empty();
    return {counts ? facts.drift : "", std::nullopt};
}

// Finds nodes that are older than their pool permits.
Candidacy find_expired(const NodeFacts& facts, api::Time now) {
    const auto& own = facts.claim.spec.expireAfter;
    const bool is_pools = claim::is_owned_by_pool(facts.claim) || !own;
    const auto& wish = is_pools ? facts.pool.spec.disruption.expireAfter : *own;
    if (!wish.duration || wish.duration->value <= std::chrono::nanoseconds{0}) return {};
    if (const auto end = end_of(facts.claim.metadata.creationTimestamp, *wish.duration, now))
        return {"", end};
    return {"the node is older than " + wish.duration->str() + " (disruption.expireAfter)", std::nullopt};
}

constexpr std::array kMethods{Method{Kind::Unhealthy, find_unhealthy, judge_unhealthy, is_still_broken},
                              Method{Kind::Evacuation, find_evacuated, first_with_a_place},
                              Method{Kind::Empty, find_empty, first_with_a_place},
                              Method{Kind::Drifted, find_drifted, first_with_a_place},
                              Method{Kind::Expired, find_expired, first_with_a_place},
                              Method{Kind::Underutilized, find_underutilized, judge_underutilized}};

}  // namespace

Candidacy Method::candidacy(const NodeFacts& facts, api::Time now) const {
    return was_in_service(facts.claim) ? find(facts, now) : Candidacy{};
}

bool Method::has_reason_to_go_on(const NodeFacts& facts, api::Time now) const {
    return still_holds ? still_holds(facts, now) : !candidacy(facts, now).why.empty();
}

std::span<const Method> methods() {
    return kMethods;
}

std::size_t rank(Kind kind) {
    return static_cast<std::size_t>(std::ranges::find(kMethods, kind, &Method::kind) - kMethods.begin());
}

const Method& method_for(Kind kind) {
    return kMethods[rank(kind)];
}

}  // namespace controllers::disruption
