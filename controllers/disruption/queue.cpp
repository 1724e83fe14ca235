#include "controllers/disruption/queue.hpp"

#include <algorithm>
#include <tuple>

#include "controllers/cache/writes.hpp"
#include "controllers/disruption/rules/blocks.hpp"
#include "controllers/disruption/rules/idleness.hpp"
#include "controllers/disruption/rules/outlook.hpp"
#include "controllers/disruption/rules/series.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/course.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/replacements.hpp"

namespace controllers::disruption {

using api::Time;

namespace {

// Long enough for the scheduler to see the taint and for pods it had bound before to show.
constexpr base::Duration kValidationPause = std::chrono::seconds{5};
// While machines come for the pods; their progress is seen at once, this is for time that passes.
constexpr base::Duration kReplacementPoll = std::chrono::seconds{15};
// What was not begun by then is judged anew.
constexpr base::Duration kPermissionLasts = std::chrono::seconds{10};
constexpr base::Duration kPowerPoll = std::chrono::seconds{3};
constexpr const char* kNoReason = "there is no reason for it any more";

// As long as a launch may take that comes after another one.
api::Duration replacement_timeout(const api::v1alpha1::ScaleUp& scale_up) {
    return scale_up.stabilizationWindow.value + scale_up.provisionTimeout.value +
           scale_up.registrationTimeout.value + scale_up.initializationTimeout.value;
}

bool waits_for_a_machine(const DepartureVerdict& verdict) {
    return verdict.outlook == Outlook::wait || verdict.outlook == Outlook::later;
}

// There is no other place for its pods, or none comes.
std::optional<Blocker> reason_to_stay(const DepartureVerdict& verdict, Time decided,
                                      const NodeSmithPool& pool, Time now) {
    if (verdict.outlook == Outlook::impossible) return Blocker{"Needed", verdict.message, std::nullopt};
    const auto& failed = pool.status.lastScaleFailureTime;
    const bool is_late =
        claim::later(decided, replacement_timeout(pool.spec.scaleUp)) <= now || (failed && decided < *failed);
    if (!waits_for_a_machine(verdict) || !is_late) return std::nullopt;
    return Blocker{std::string(kReplacementTimeout), "no machine came for its pods", std::nullopt};
}

bool is_busy(const Member& member, Kind kind, Time now) {
    return kind == Kind::Underutilized && !is_unneeded(member.facts, now);
}

// Claims of evicted pods end with these, a moment before their volumes do. Before the node is removed the API
// server is asked.
bool is_doubtful(const PoolView& view, const Member& member) {
    const auto held = held_among(member.volumes, view.pool.get(), *member.claim);
    return drain_began(*member.claim) && std::ranges::none_of(held, &LocalVolume::is_claim_known);
}

// Why one under way has lost its ground.
std::optional<Blocker> no_longer(const PoolView& view, const Member& member, Kind kind) {
    if (auto why = standing_blocker(view.facts)) return why;
    if (view.observes()) return Blocker{"Observe", "the control plane's mode is Observe now", std::nullopt};
    if (!keeps_machine_for_volumes(kind) && !is_doubtful(view, member))
        if (auto held = volume_blocker(member.facts)) return held;
    const bool has_reason = !method_for(kind).candidacy(member.facts, view.now).why.empty();
    // Only while it is kept: what was drained for volumes that are given up is removed.
    if (is_kept_for_volumes(*member.claim))
        return has_reason ? std::nullopt : std::optional(Blocker{"NoReason", kNoReason, std::nullopt});
    // A drain makes a node look idle, and what it has moved is not moved back without need.
    if (drain_began(*member.claim) && kind != Kind::Unhealthy) return std::nullopt;
    if (kind == Kind::Empty && member.facts.evictable_pods > 0)
        return Blocker{"NotEmpty", "pods run on the node", std::nullopt};
    if (!has_reason) return Blocker{"NoReason", kNoReason, std::nullopt};
    auto with_it = view.facts;
    with_it.staying += 1;
    if (auto why = node_blocker(with_it, member.facts, kind, view.now)) return why;
    return pod_blocker(member.pods, pod_rules(view, member, kind), view.now);
}

}  // namespace

Queue::Queue(Means means, base::MetricsRegistry& metrics)
    : with_(std::move(means)),
      removed_(metrics.counter("kubenodesmith_nodes_removed_total", "Nodes whose removal was begun",
                               {"namespace", "pool", "reason"})),
      undone_(metrics.counter("kubenodesmith_removals_undone_total", "Removals that were given up",
                              {"namespace", "pool", "reason"})) {}

void Queue::forget(const std::string& claim_uid) {
    tainted_.erase(claim_uid);
    permitted_.erase(claim_uid);
    deleted_.erase(claim_uid);
}

asio::awaitable<void> Queue::add(Pass& pass, Command command) {
    const auto node = kube::target_of(*command.member.node);
    if (command.switches_power) {
        with_.announcer.say(
            node, kube::EventType::warning, "PowerCycling",
            "the node is not Ready: its machine is switched off and on again before it is replaced");
        with_.reports.permit(*command.member.claim, DisruptionReports::Permission::begin_power_cycle);
        co_return;
    }
    const auto kind = std::string(name_of(command.kind));
    auto message = command.why;
    if (!command.plan.empty() && command.kind != Kind::Empty) message += "; " + command.plan;
    const auto& member = command.member;
    const auto lost = lost_with(*member.claim, member.volumes);
    if (!lost.empty() && member.facts.held_volumes.empty()) message += "; lost with it: " + lost;
    const auto cause = command.is_replaced ? cause_of(command.member.facts, command.kind) : std::string();
    const Blocker why{kind, message, std::nullopt};
    co_await set_disrupted(command.member.claim, ConditionStatus::True, why, cause);
    with_.events.event(node, kube::EventType::normal, "Disrupting", kind + ": " + message);
    pass.look_again(base::Duration::zero());
}

asio::awaitable<void> Queue::advance(Pass& pass) {
    permit_power_cycles(pass);
    std::vector<Member> prepared;
    for (const auto& member : pass.view().members) {
        if (under_way(*member.claim) && !deleted_.contains(member.claim->metadata.uid))
            co_await prepare(pass, member, prepared);
    }
    std::map<std::tuple<std::size_t, bool>, std::vector<Member>> groups;
    for (const auto& member : prepared) {
        const auto kind = *under_way(*member.claim);
        groups[{rank(kind), is_busy(member, kind, pass.view().now)}].push_back(member);
    }
    for (const auto& [key, group] : groups)
        co_await depart(pass, group, *under_way(*group.front().claim), std::get<bool>(key));
}

void Queue::permit_power_cycles(Pass& pass) {
    using Permission = DisruptionReports::Permission;
    const auto standing = standing_blocker(pass.view().facts);
    // An outage is no time to switch anything off, but what is off was switched off by us.
    if ((standing && !is_outage(standing)) || pass.view().observes()) return;
    for (const auto& member : pass.view().members) {
        if (!is_power_cycling(*member.claim) || member.claim->metadata.deletionTimestamp) continue;
        with_.reports.permit(*member.claim, standing ? Permission::switch_on : Permission::switch_off_and_on);
        with_.announcer.settle(member.node->metadata.uid);
        pass.look_again(kPowerPoll);
    }
}

bool Queue::is_permitted(const NodeSmithClaim& claim) const {
    const auto permitted = permitted_.find(claim.metadata.uid);
    return permitted != permitted_.end() && with_.clock.now() < permitted->second + kPermissionLasts &&
           with_.reports.permission_of(claim) != DisruptionReports::Permission::none;
}

// Undoes what has lost its ground, and waits for the taint to be there and to settle.
asio::awaitable<void> Queue::prepare(Pass& pass, Member member, std::vector<Member>& prepared) {
    const auto kind = *under_way(*member.claim);
    if (const auto why = no_longer(pass.view(), member, kind)) {
        co_await undo(pass, member, *why);
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
    if (is_permitted(*member.claim)) {
        pass.look_again(kPermissionLasts);
        co_return;
    }
    with_.reports.permit(*member.claim, DisruptionReports::Permission::none);
    const auto now = with_.clock.now();
    const auto settled_at = tainted_.try_emplace(uid, now).first->second + kValidationPause;
    if (now < settled_at)
        pass.look_again(settled_at - now);
    else
        prepared.push_back(member);
}

// What goes together is judged together: one machine may be launched for all of them.
asio::awaitable<void> Queue::depart(Pass& pass, std::vector<Member> group, Kind kind, bool is_busy) {
    DepartureVerdict verdict{Outlook::clear, ""};
    if (kind != Kind::Unhealthy) {
        Departure departure{kind, {}, !is_busy};
        for (const auto& member : group)
            if (const auto place = pass.place_of(member)) departure.nodes.push_back(*place);
        verdict = judge_departure(pass.solver(), pass.world().snapshot, departure);
    }
    bool is_given_up = false;
    for (const auto& member : group) {
        const auto& view = pass.view();
        const auto why = reason_to_stay(verdict, decided_at(*member.claim), *view.pool, view.now);
        if (why) {
            is_given_up = true;
            co_await undo(pass, member, *why);
        } else if (waits_for_a_machine(verdict)) {
            pass.look_again(kReplacementPoll);
        } else {
            const bool drains_first = verdict.outlook == Outlook::drain_first;
            if (drains_first)
                with_.announcer.say(kube::target_of(*member.node), kube::EventType::warning, "DrainsFirst",
                                    verdict.message);
            co_await let_drain(pass, member, drains_first);
        }
    }
    if (is_given_up && kind == Kind::Underutilized && !is_busy) pass.pause_replacements();
}

asio::awaitable<void> Queue::let_drain(Pass& pass, Member member, bool all_at_once) {
    const auto kind = *under_way(*member.claim);
    const auto live = co_await look_live(pass.view(), member, kind, all_at_once);
    if (live.why_not) {
        // The cache may not know why for a while, and would have it begin anew at once.
        pass.refuse(member, kind, live.why_not->message);
        co_await undo(pass, member, *live.why_not);
        co_return;
    }
    using Permission = DisruptionReports::Permission;
    permitted_[member.claim->metadata.uid] = with_.clock.now();
    with_.reports.permit(*member.claim, live.is_empty ? Permission::leave_empty : Permission::drain);
}

asio::awaitable<Queue::LiveLook> Queue::look_live(const PoolView& view, Member member, Kind kind,
                                                  bool all_at_once) {
    const auto pods = co_await live_pods(with_.client, member.node->metadata.name);
    LiveLook look;
    look.is_empty = std::ranges::none_of(pods, [](const auto& pod) { return is_drainable(*pod); });
    if (!keeps_machine_for_volumes(kind)) {
        look.why_not = co_await look_for_volumes(view, member);
        if (look.why_not) co_return look;
    }
    if (kind == Kind::Empty && !look.is_empty) {
        look.why_not = Blocker{"NotEmpty", "pods run on the node", std::nullopt};
        co_return look;
    }
    look.why_not = pod_blocker(pods, pod_rules(view, member, kind, all_at_once), view.now);
    co_return look;
}

// The cache may not know of a volume that was made a moment ago, nor of a claim that was deleted.
asio::awaitable<std::optional<Blocker>> Queue::look_for_volumes(const PoolView& view, Member member) {
    if (gave_up_volumes(view.pool.get(), *member.claim)) co_return std::nullopt;
    const std::vector<std::string> everywhere{""};
    co_await with_.informers.persistent_volumes.observe_list(with_.client, everywhere);
    if (!with_.informers.persistent_volumes.undecodable().empty())
        co_return Blocker{"VolumeNotReadable", "a PersistentVolume cannot be decoded, and may be on its disk",
                          std::nullopt};
    const auto& node = *member.node;
    LocalVolumes held;
    for (const auto& volume :
         held_among(local_volumes_on(with_.informers, node), view.pool.get(), *member.claim)) {
        const bool is_claimed = co_await has_live_claim(volume);
        if (is_claimed) held.push_back(volume);
    }
    member.facts.held_volumes = named(held);
    co_return volume_blocker(member.facts);
}

asio::awaitable<bool> Queue::has_live_claim(LocalVolume volume) {
    if (volume.is_claim_known) co_return true;
    kube::ListOptions of_that_name;
    of_that_name.namespace_ = volume.claim.namespace_;
    of_that_name.field_selector = "metadata.name=" + volume.claim.name;
    auto claims = co_await with_.client.list<api::PersistentVolumeClaim>(std::move(of_that_name));
    const bool is_there = !claims.existing().empty();
    for (auto& claim : claims.objects) with_.informers.persistent_volume_claims.observe(std::move(claim));
    co_return is_there;
}

// A machine that is kept waits for its claim's reconciler to note what a person decided.
asio::awaitable<void> Queue::remove_unless_held(Pass& pass, Member member) {
    const auto& view = pass.view();
    const auto kind = *under_way(*member.claim);
    const bool is_held = keeps_machine_for_volumes(kind) && !member.facts.held_volumes.empty();
    if (is_held || is_kept_for_volumes(*member.claim)) co_return;
    const auto held = co_await look_for_volumes(view, member);
    if (!held) {
        co_await remove(view, member);
    } else if (!keeps_machine_for_volumes(kind)) {
        co_await undo(pass, member, *held);
    }
}

asio::awaitable<void> Queue::follow_drain(Pass& pass, Member member) {
    const auto& claim = *member.claim;
    const auto& view = pass.view();
    if (claim::is_true(claim, conditions::kDrained)) {
        if (under_way(claim) == Kind::Underutilized) pass.end_pause();
        co_await remove_unless_held(pass, member);
        co_return;
    }
    const auto& scale_down = view.pool->spec.scaleDown;
    if (drain_deadline(claim, scale_down)) co_return;
    const auto ends = claim::later(*drain_began(claim), scale_down.drainTimeout);
    if (view.now < ends) {
        pass.look_again_at(ends);
        co_return;
    }
    const auto* drained = api::find_condition(claim.status.conditions, conditions::kDrained);
    const Blocker why{std::string(reasons::kDrainTimeout),
                      "it was not empty after " + scale_down.drainTimeout.str() +
                          " (scaleDown.drainTimeout): " + drained->message,
                      std::nullopt};
    co_await undo(pass, member, why);
}

asio::awaitable<void> Queue::undo(Pass& pass, Member member, Blocker why) {
    const auto& pool = member.claim->spec.poolRef;
    undone_.with({member.claim->metadata.namespace_, pool, why.reason}).add();
    with_.events.normal(*member.node, "RemovalUndone", "the node stays: " + why.message);
    if (const auto kind = under_way(*member.claim); kind && *kind != Kind::Empty)
        pass.refuse(member, *kind, why.message);
    const std::string no_cause;
    why.message = "the node stays: " + why.message;
    co_await set_disrupted(member.claim, ConditionStatus::False, why, no_cause);
    pass.look_again(base::Duration::zero());
}

asio::awaitable<void> Queue::remove(const PoolView& view, Member member) {
    if (!with_.may_mutate()) throw std::runtime_error("removing a node: this process may no longer lead");
    const auto kind = *under_way(*member.claim);
    auto after = *view.pool;
    if (is_scale_down(kind)) after.status.lastScaleDownTime = view.now;
    after.status.lastScaleActivity = view.now;
    const auto claims = with_.informers.claims.store().by_index(kClaimsByPool, api::key_of(*view.pool).str());
    after.status.openReplacements = with_removed(*view.pool, claims, *member.claim, view.now);
    co_await write_status(with_.client, with_.informers.pools, *view.pool, std::move(after));

    const auto& metadata = member.claim->metadata;
    kube::Preconditions same;
    same.uid = metadata.uid;
    co_await with_.client.remove<NodeSmithClaim>(api::key_of(*member.claim), std::move(same));
    deleted_.insert(metadata.uid);
    if (view.manager) with_.removals.count(api::key_of(*view.manager));
    removed_.with({view.pool->metadata.namespace_, view.pool->metadata.name, std::string(name_of(kind))})
        .add();
    with_.events.event(
        kube::target_of(*member.node), kube::EventType::normal, "RemovingNode",
        std::string(name_of(kind)) + ": the node is drained and its claim " + metadata.name + " is deleted");
    tainted_.erase(metadata.uid);
    with_.announcer.settle(member.node->metadata.uid);
}

asio::awaitable<void> Queue::set_disrupted(ClaimPointer claim, ConditionStatus status, Blocker why,
                                           std::string cause) {
    auto after = *claim;
    const auto now = api::Time(with_.clock.wall_now());
    const api::ConditionUpdate update{std::string(conditions::kDisrupted), status, std::move(why.reason),
                                      std::move(why.message), claim->metadata.generation};
    api::set_condition(after.status.conditions, update, now);
    after.status.disruptionCause = std::move(cause);
    // Or the claim's reconciler would have to write once more. Whether the Node is Ready is for it to say.
    conclude(after, std::nullopt, now);
    after.status.phase = claim::phase_of(after);
    co_await write_status(with_.client, with_.informers.claims, *claim, std::move(after));
}

}  // namespace controllers::disruption
