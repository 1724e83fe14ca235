// The disruptions under way, each one step further.
#include <algorithm>
#include <tuple>

#include "controllers/cache/writes.hpp"
#include "controllers/disruption/reconciler.hpp"
#include "controllers/disruption/waits.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/disruption_state.hpp"

namespace controllers::disruption {

using api::Time;
using api::v1alpha1::NodeSmithClaim;
namespace conditions = api::conditions;
namespace reasons = api::reasons;

namespace {

// Long enough for the scheduler to see the taint and for pods it had bound before to show.
constexpr base::Duration kValidationPause = std::chrono::seconds{5};
// While machines come for the pods; their progress is seen at once, this is for time that passes.
constexpr base::Duration kReplacementPoll = std::chrono::seconds{15};

// As long as a purchase may take that comes after another one.
api::Duration replacement_timeout(const api::v1alpha1::ScaleUp& scale_up) {
    return scale_up.stabilizationWindow.value + scale_up.provisionTimeout.value +
           scale_up.registrationTimeout.value + scale_up.initializationTimeout.value;
}

bool waits_for_a_machine(const Verdict& verdict) {
    return verdict.outlook == Outlook::wait || verdict.outlook == Outlook::later;
}

// There is no other place for its pods, or none comes.
std::optional<Blocker> reason_to_stay(const Verdict& verdict, Time decided,
                                      const api::v1alpha1::NodeSmithPool& pool, Time now) {
    if (verdict.outlook == Outlook::impossible) return Blocker{"Needed", verdict.message, std::nullopt};
    const auto& failed = pool.status.lastScaleFailureTime;
    const bool is_late =
        claim::later(decided, replacement_timeout(pool.spec.scaleUp)) <= now || (failed && decided < *failed);
    if (!waits_for_a_machine(verdict) || !is_late) return std::nullopt;
    return Blocker{std::string(kReplacementTimeout), "no machine came for its pods", std::nullopt};
}

}  // namespace

asio::awaitable<void> DisruptionReconciler::advance(Pass& pass) {
    std::vector<Member> prepared;
    const auto members = pass.view.members;
    for (const auto& member : members) {
        if (under_way(*member.claim) && !deleted_.contains(member.claim->metadata.uid))
            co_await prepare(pass, member, prepared);
    }
    std::map<std::tuple<int, bool>, std::vector<Member>> groups;
    for (const auto& member : prepared) {
        const auto kind = *under_way(*member.claim);
        const bool is_busy =
            kind == Kind::Underutilized && !is_hardly_used(facts_of(pass.view, member), pass.view.now);
        groups[{rank(kind), is_busy}].push_back(member);
    }
    for (const auto& [key, group] : groups)
        co_await depart(pass, group, *under_way(*group.front().claim), std::get<bool>(key));
}

// Undoes what has lost its ground, and waits for the taint to be there and to settle.
asio::awaitable<void> DisruptionReconciler::prepare(Pass& pass, Member member,
                                                    std::vector<Member>& prepared) {
    const auto kind = *under_way(*member.claim);
    if (const auto why = no_longer(pass.view, member, kind)) {
        co_await undo(member, *why);
        pass.again = base::Duration::zero();
        co_return;
    }
    const auto& uid = member.claim->metadata.uid;
    if (drain_began(*member.claim)) {
        co_await follow_drain(pass, member);
        co_return;
    }
    if (!has_leaving_taint(*member.node)) {
        tainted_.erase(uid);
        co_return;
    }
    const auto settled_at = tainted_.try_emplace(uid, clock_.now()).first->second + kValidationPause;
    if (clock_.now() < settled_at)
        pass.again = sooner(pass.again, settled_at - clock_.now());
    else
        prepared.push_back(member);
}

std::optional<Blocker> DisruptionReconciler::no_longer(const View& view, const Member& member, Kind kind) {
    const auto pool = facts_of(view);
    if (auto why = standing_blocker(pool)) return why;
    if (view.observes()) return Blocker{"Observe", "the control plane's mode is Observe now", std::nullopt};
    const auto facts = facts_of(view, member);
    // A drain makes a node look idle, and what it has moved is not moved back without need.
    if (drain_began(*member.claim) && kind != Kind::Unhealthy) return std::nullopt;
    if (kind == Kind::Empty && member.evictable_pods > 0)
        return Blocker{"NotEmpty", "pods run on the node", std::nullopt};
    if (!is_candidate(facts, kind, view.now))
        return Blocker{"NoReason", "there is no reason for it any more", std::nullopt};
    auto with_it = pool;
    with_it.staying += 1;
    if (auto why = node_blocker(with_it, facts, kind, view.now)) return why;
    return pod_blocker(member.pods, pod_rules(view, member, kind), view.now);
}

// What goes together is judged together: one machine may be bought for all of them.
asio::awaitable<void> DisruptionReconciler::depart(Pass& pass, std::vector<Member> group, Kind kind,
                                                   bool is_busy) {
    Verdict verdict{Outlook::clear, ""};
    if (kind != Kind::Unhealthy) {
        Departure departure{kind, {}, !is_busy};
        for (const auto& member : group)
            if (const auto place = place_in_world(pass, member)) departure.nodes.push_back(*place);
        verdict = judge_departure(solver_, pass.world->snapshot, departure);
    }
    for (const auto& member : group) {
        const auto why = reason_to_stay(verdict, decided_at(*member.claim), *pass.view.pool, pass.view.now);
        if (why) {
            co_await undo(member, *why);
            pass.again = base::Duration::zero();
        } else if (waits_for_a_machine(verdict)) {
            pass.again = sooner(pass.again, kReplacementPoll);
        } else {
            const bool drains_first = verdict.outlook == Outlook::drain_first;
            if (drains_first)
                announcer_.say(kube::target_of(*member.node), kube::EventType::warning, "DrainsFirst",
                               verdict.message);
            co_await let_drain(pass, member, drains_first);
        }
    }
}

asio::awaitable<void> DisruptionReconciler::let_drain(Pass& pass, Member member, bool all_at_once) {
    const auto kind = *under_way(*member.claim);
    const auto live = co_await look_live(pass.view, member, kind, all_at_once);
    if (live.why_not) {
        // The cache may not know why for a while, and would have it begin anew at once.
        refused_[member.claim->metadata.uid] = {kind, clock_.now(), live.why_not->message};
        co_await undo(member, *live.why_not);
        pass.again = base::Duration::zero();
        co_return;
    }
    using Permission = DisruptionReports::Permission;
    reports_.permit(*member.claim, live.is_empty ? Permission::leave_empty : Permission::drain);
}

asio::awaitable<DisruptionReconciler::LiveLook> DisruptionReconciler::look_live(View view, Member member,
                                                                                Kind kind, bool all_at_once) {
    kube::ListOptions options;
    options.field_selector = "spec.nodeName=" + member.node->metadata.name;
    const auto listed = co_await client_.list<api::Pod>(std::move(options));
    PodPointers pods;
    for (const auto& pod : listed) pods.push_back(std::make_shared<const api::Pod>(pod));
    LiveLook look;
    look.is_empty = std::ranges::none_of(pods, [](const auto& pod) { return is_drainable(*pod); });
    if (kind == Kind::Empty && !look.is_empty) {
        look.why_not = Blocker{"NotEmpty", "pods run on the node", std::nullopt};
        co_return look;
    }
    look.why_not = pod_blocker(pods, pod_rules(view, member, kind, all_at_once), view.now);
    co_return look;
}

asio::awaitable<void> DisruptionReconciler::follow_drain(Pass& pass, Member member) {
    const auto& claim = *member.claim;
    if (claim::is_true(claim, conditions::kDrained)) {
        co_await remove(pass.view, member);
        co_return;
    }
    const auto& scale_down = pass.view.pool->spec.scaleDown;
    const auto ends = claim::later(*drain_began(claim), scale_down.drainTimeout);
    if (drain_deadline(claim, scale_down)) co_return;
    if (pass.view.now < ends) {
        pass.again = sooner(pass.again, until(ends, pass.view.now));
        co_return;
    }
    const auto* drained = api::find_condition(claim.status.conditions, conditions::kDrained);
    const Blocker why{std::string(reasons::kDrainTimeout),
                      "it was not empty after " + scale_down.drainTimeout.str() +
                          " (scaleDown.drainTimeout): " + drained->message,
                      std::nullopt};
    co_await undo(member, why);
    pass.again = base::Duration::zero();
}

asio::awaitable<void> DisruptionReconciler::undo(Member member, Blocker why) {
    const auto& pool = member.claim->spec.poolRef;
    undone_.with({member.claim->metadata.namespace_, pool, why.reason}).add();
    events_.event(kube::target_of(*member.node), kube::EventType::normal, "RemovalUndone",
                  "the node stays: " + why.message);
    if (const auto kind = under_way(*member.claim); kind && *kind != Kind::Empty)
        refused_[member.claim->metadata.uid] = {*kind, clock_.now(), why.message};
    co_await set_disrupted(member.claim, api::ConditionStatus::False, why.reason,
                           "the node stays: " + why.message);
}

asio::awaitable<void> DisruptionReconciler::remove(View view, Member member) {
    if (!may_mutate_()) throw std::runtime_error("removing a node: this process may no longer lead");
    const auto kind = *under_way(*member.claim);
    auto after = *view.pool;
    if (is_scale_down(kind)) after.status.lastScaleDownTime = view.now;
    after.status.lastScaleActivity = view.now;
    co_await write_status(client_, informers_.pools, *view.pool, std::move(after));

    kube::Preconditions same;
    same.uid = member.claim->metadata.uid;
    co_await client_.remove<NodeSmithClaim>(api::key_of(*member.claim), std::move(same));
    deleted_.insert(member.claim->metadata.uid);
    if (view.manager) removals_[api::key_of(*view.manager)].push_back(clock_.now());
    removed_.with({view.pool->metadata.namespace_, view.pool->metadata.name, std::string(name_of(kind))})
        .add();
    events_.event(kube::target_of(*member.node), kube::EventType::normal, "RemovingNode",
                  std::string(name_of(kind)) + ": the node is drained and its claim " +
                      member.claim->metadata.name + " is deleted");
    tainted_.erase(member.claim->metadata.uid);
    announcer_.settle(member.node->metadata.uid);
}

}  // namespace controllers::disruption
