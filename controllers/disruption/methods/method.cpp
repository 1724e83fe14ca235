#include "controllers/disruption/methods/method.hpp"

#include <algorithm>
#include <array>

#include "controllers/disruption/methods/consolidation.hpp"
#include "controllers/disruption/methods/drift.hpp"
#include "controllers/disruption/methods/emptiness.hpp"
#include "controllers/disruption/methods/evacuation.hpp"
#include "controllers/disruption/methods/expiration.hpp"
#include "controllers/disruption/methods/repair.hpp"
#include "controllers/disruption/rules/outlook.hpp"
#include "controllers/state/pool_counts.hpp"

namespace controllers::disruption {

namespace {

// Ready, or not Ready for a while.
bool was_in_service(const api::v1alpha1::NodeSmithClaim& claim) {
    const auto state = state_of(claim);
    return (state == ClaimState::ready || state == ClaimState::pending) &&
           api::is_true(claim.status.conditions, api::conditions::kInitialized);
}

// What keeps the node because its pods would have no place; otherwise the plan says where they go.
std::optional<Blocker> need_for(Pass& pass, const Member& member, Kind kind, std::string& plan) {
    if (const auto* refusal = pass.refusal_of(member, kind))
        return Blocker{"Needed", refusal->message, std::nullopt};
    const auto place = pass.place_of(member);
    if (!place) return std::nullopt;
    const auto verdict = judge_departure(pass.solver(), pass.world().snapshot, {kind, {*place}});
    plan = verdict.message;
    if (verdict.outlook == Outlook::drain_first)
        return pod_blocker(member.pods, pod_rules(pass.view(), member, kind, true), pass.view().now);
    if (verdict.outlook == Outlook::clear || verdict.outlook == Outlook::wait) return std::nullopt;
    // What keeps an empty node may be gone with the next event.
    if (kind != Kind::Empty) pass.refuse(member, kind, verdict.message);
    return Blocker{"Needed", verdict.message, std::nullopt};
}

}  // namespace

Candidacy Method::candidacy(const NodeFacts& facts, api::Time now) const {
    return was_in_service(facts.claim) ? find(facts, now) : Candidacy{};
}

std::span<const Method* const> methods() {
    static const Repair repair;
    static const Evacuation evacuation;
    static const Emptiness emptiness;
    static const Drift drift;
    static const Expiration expiration;
    static const Consolidation consolidation;
    static const std::array<const Method*, 6> all{&repair, &evacuation, &emptiness,
                                                  &drift,  &expiration, &consolidation};
    return all;
}

std::size_t rank(Kind kind) {
    const auto found =
        std::ranges::find_if(methods(), [kind](const Method* method) { return method->kind() == kind; });
    return static_cast<std::size_t>(found - methods().begin());
}

const Method& method_for(Kind kind) {
    return *methods()[rank(kind)];
}

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

}  // namespace controllers::disruption
