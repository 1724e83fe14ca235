#include "controllers/disruption/queue.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/disruption/facts/removal_rate.hpp"
#include "controllers/disruption/facts/replacements.hpp"
#include "controllers/disruption/rules/blocks.hpp"
#include "controllers/disruption/rules/idleness.hpp"
#include "controllers/disruption/rules/outlook.hpp"
#include "controllers/disruption/rules/series.hpp"
#include "controllers/services/claim_refusals.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/course.hpp"

namespace controllers::disruption {

using api::Time;

namespace {

// Long enough for the scheduler to see the taint, and for pods that it bound earlier to appear.
constexpr base::Duration kValidationPause = std::chrono::seconds{5};
// Poll interval while machines are created for the pods. Their progress is seen
// immediately; this covers passing time.
constexpr base::Duration kReplacementPoll = std::chrono::seconds{15};
// A permission that was not used by then is judged again.
constexpr base::Duration kPermissionLasts = std::chrono::seconds{10};
constexpr base::Duration kPowerPoll = std::chrono::seconds{3};
// The client waits so long for the answer to a write.
constexpr base::Duration kLongestWrite = std::chrono::seconds{30};
constexpr base::Duration kLongestTurn = std::chrono::minutes{5};
// While a claim's writes are refused, at least one a minute is tried, unless they hang.
constexpr base::Backoff kAfterFailure{std::chrono::seconds{1}, std::chrono::minutes{1}};
constexpr base::Backoff kAfterOvertaking{std::chrono::milliseconds{100}, std::chrono::minutes{1}};
constexpr const char* kNoReason = "the reason for it no longer applies";

// Returns how long a launch may take that must wait for an earlier one.
api::Duration replacement_timeout(const api::v1alpha1::ScaleUp& scale_up) {
    return scale_up.stabilizationWindow.value + scale_up.provisionTimeout.value +
           scale_up.registrationTimeout.value + scale_up.initializationTimeout.value;
}

bool waits_for_a_machine(const DepartureVerdict& verdict) {
    return verdict.outlook == Outlook::wait || verdict.outlook == Outlook::later;
}

// Returns a blocker if its pods have no other place, or none becomes available.
std::optional<Blocker> reason_to_stay(const DepartureVerdict& verdict, Time decided,
                                      const NodeSmithPool& pool, Time now) {
    if (verdict.outlook == Outlook::impossible) return Blocker{"Needed", verdict.message, std::nullopt};
    const auto& failed = pool.status.lastScaleFailureTime;
    const bool is_late =
        claim::later(decided, replacement_timeout(pool.spec.scaleUp)) <= now || (failed && decided < *failed);
    if (!waits_for_a_machine(verdict) || !is_late) return std::nullopt;
    return Blocker{std::string(kReplacementTimeout), "no new machine for its pods came into service in time",
                   std::nullopt};
}

bool is_busy(const Member& member, Kind kind, Time now) {
    return kind == Kind::Underutilized && !is_unneeded(member.facts, now);
}

// Reports whether the volumes may only seem to be free. Claims of evicted pods end with them, shortly before
// their volumes do. The API server is asked before the node is removed.
bool is_doubtful(const PoolView& view, const Member& member) {
    const auto held = held_among(member.volumes, view.pool.get(), *member.claim);
    return drain_began(*member.claim) && std::ranges::none_of(held, &LocalVolume::is_claim_known);
}

// Returns why a running disruption is no longer justified.
std::optional<Blocker> no_longer(const PoolView& view, const Member& member, Kind kind) {
    if (auto why = standing_blocker(view.facts)) return why;
    if (view.observes()) return Blocker{"Observe", "the control plane's mode is now Observe", std::nullopt};
    if (!keeps_machine_for_volumes(kind) && !is_doubtful(view, member))
        if (auto held = volume_blocker(member.facts)) return held;
    const bool has_reason = method_for(kind).has_reason_to_go_on(member.facts, view.now);
    // This applies while the machine is kept. If its volumes were given up after the drain, it is removed.
    if (is_kept_for_volumes(*member.claim))
        return has_reason ? std::nullopt : std::optional(Blocker{"NoReason", kNoReason, std::nullopt});
    // A drain makes a node look idle, and moved pods are not moved back without need.
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
      removed_(metrics.counter("kubenodesmith_nodes_removed_total", "Nodes whose removal began",
                               {"namespace", "pool", "reason"})),
      undone_(metrics.counter("kubenodesmith_removals_undone_total", "Removals of nodes that were given up",
                              {"namespace", "pool", "reason"})) {}

void Queue::forget(const std::string& claim_uid) {
    tainted_.erase(claim_uid);
    permitted_.erase(claim_uid);
    deleted_.erase(claim_uid);
    failures_.erase(claim_uid);
    overtaken_.erase(claim_uid);
}

std::optional<Blocker> Queue::refusal_of(const NodeSmithClaim& claim) const {
    const auto failed = failures_.find(claim.metadata.uid);
    if (failed == failures_.end() || failed->second.pause_ends <= with_.clock.now()) return std::nullopt;
    const auto wait = std::chrono::ceil<std::chrono::seconds>(failed->second.pause_ends - with_.clock.now());
    return Blocker{std::string(reasons::kRequestRefused),
                   "claim " + claim.metadata.name + " cannot be written: " + failed->second.message,
                   Time(api::Time(with_.clock.wall_now()).at + wait)};
}

asio::awaitable<bool> Queue::attempt(Pass& pass, Member member, asio::awaitable<void> step) {
    const auto& uid = member.claim->metadata.uid;
    const auto known = failures_.find(uid);
    if (known != failures_.end() && with_.clock.now() < known->second.pause_ends) {
        pass.look_again(known->second.pause_ends - with_.clock.now());
        co_return false;
    }
    if (pass.is_unanswered()) {
        pass.look_again(base::Duration::zero());
        co_return false;
    }
    try {
        co_await std::move(step);
        failures_.erase(uid);
        overtaken_.erase(uid);
        co_return true;
    } catch (const kube::ApiError& error) {
        // Someone else wrote or deleted it first. The next round sees the change.
        if (error.is_conflict() || error.is_not_found()) {
            pass.look_again(kAfterOvertaking.after(++overtaken_[uid]));
            co_return false;
        }
        auto& failure = failures_[uid];
        failure.message = error.message;
        failure.is_unanswered = took_long(error);
        if (failure.is_unanswered) {
            pass.note_unanswered();
            pass.look_again(base::Duration::zero());
        }
        auto pause = kAfterFailure.after(++failure.tries);
        // Long enough for each other node to get a turn, even if all of these take their half a minute.
        const auto late =
            std::ranges::count_if(failures_, [](const auto& entry) { return entry.second.is_unanswered; });
        if (failure.is_unanswered)
            pause = std::max<base::Duration>(
                pause, std::min<base::Duration>(kLongestWrite * (late + 1), kLongestTurn));
        failure.pause_ends = with_.clock.now() + pause;
        pass.look_again(pause);
        base::log::warning(
            "A step of a node's removal failed, trying again",
            {{"node", member.node->metadata.name}, {"failures", failure.tries}, {"error", error.what()}});
        with_.announcer.say(kube::target_of(*member.node), kube::EventType::warning, "RemovalRefused",
                            "the API server refuses a request needed to remove or keep the node: " +
                                std::string(error.what()));
    }
    co_return false;
}

asio::awaitable<bool> Queue::add(Pass& pass, Command command) {
    auto member = command.member;
    auto step = begin(pass, std::move(command));
    return attempt(pass, std::move(member), std::move(step));
}

asio::awaitable<void> Queue::begin(Pass& pass, Command command) {
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
    co_await decided(command.member.claim, why, cause);
    with_.events.event(node, kube::EventType::normal, "Disrupting", kind + ": " + message);
    pass.look_again(base::Duration::zero());
}

asio::awaitable<void> Queue::advance(Pass& pass) {
    permit_power_cycles(pass);
    std::vector<Member> prepared;
    for (const auto& member : late_ones_last(pass.view().members)) {
        if (under_way(*member.claim) && !deleted_.contains(member.claim->metadata.uid))
            co_await attempt(pass, member, prepare(pass, member, prepared));
    }
    std::map<std::tuple<std::size_t, bool>, std::vector<Member>> groups;
    for (const auto& member : prepared) {
        const auto kind = *under_way(*member.claim);
        groups[{rank(kind), is_busy(member, kind, pass.view().now)}].push_back(member);
    }
    for (const auto& [key, group] : groups)
        co_await depart(pass, group, *under_way(*group.front().claim), std::get<bool>(key));
}

// Returns the members with those last whose last write was not answered in time.
std::vector<Member> Queue::late_ones_last(std::vector<Member> members) const {
    std::vector<Member> turns;
    std::vector<Member> last;
    for (auto& member : members) {
        const auto failed = failures_.find(member.claim->metadata.uid);
        const bool is_late = failed != failures_.end() && failed->second.is_unanswered;
        (is_late ? last : turns).push_back(std::move(member));
    }
    std::ranges::move(last, std::back_inserter(turns));
    return turns;
}

void Queue::permit_power_cycles(Pass& pass) {
    using Permission = DisruptionReports::Permission;
    const auto standing = standing_blocker(pass.view().facts);
    // During an outage nothing is switched off, but a machine that we switched off is switched on.
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

// Undoes unjustified disruptions, and waits until the taint is set and has settled.
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

// Judges the group together, because one machine may be launched for all of them.
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
            co_await attempt(pass, member, undo(pass, member, *why));
        } else if (waits_for_a_machine(verdict)) {
            pass.look_again(kReplacementPoll);
        } else {
            const bool drains_first = verdict.outlook == Outlook::drain_first;
            if (drains_first)
                with_.announcer.say(kube::target_of(*member.node), kube::EventType::warning, "DrainsFirst",
                                    verdict.message);
            co_await attempt(pass, member, let_drain(pass, member, drains_first));
        }
    }
    if (is_given_up && kind == Kind::Underutilized && !is_busy)
        co_await note_replacement(pass.view(), paused_again(*pass.view().pool, pass.view().now));
}

asio::awaitable<void> Queue::let_drain(Pass& pass, Member member, bool all_at_once) {
    const auto kind = *under_way(*member.claim);
    const auto live = co_await look_live(pass.view(), member, kind, all_at_once);
    if (live.why_not) {
        // The cache may lack the reason for a while, and would start the disruption again immediately.
        pass.refuse(member, kind, live.why_not->message);
        co_await undo(pass, member, *live.why_not);
        co_return;
    }
    using Permission = DisruptionReports::Permission;
    permitted_[member.claim->metadata.uid] = with_.clock.now();
    with_.reports.permit(*member.claim, live.is_empty ? Permission::leave_empty : Permission::drain);
}

// Removes the node. A kept machine waits until its claim's reconciler records a person's decision.
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
        if (under_way(claim) == Kind::Underutilized) co_await note_replacement(view, std::nullopt);
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
    const auto kind = under_way(*member.claim);
    auto said = why;
    said.message = std::string(kNodeStays) + why.message;
    // The next event may make an empty node unneeded again.
    const auto pauses = kind == Kind::Empty ? std::nullopt : kind;
    co_await taken_back(member.claim, said, pauses);
    undone_.with({member.claim->metadata.namespace_, member.claim->spec.poolRef, why.reason}).add();
    with_.events.normal(*member.node, "RemovalUndone", said.message);
    pass.look_again(base::Duration::zero());
}

// ---- the last check before a drain, by live reads instead of the cache

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

// Reads the volumes live. The cache may lack a new volume or the deletion of a claim.
asio::awaitable<std::optional<Blocker>> Queue::look_for_volumes(const PoolView& view, Member member) {
    if (gave_up_volumes(view.pool.get(), *member.claim)) co_return std::nullopt;
    const std::vector<std::string> everywhere{""};
    co_await with_.informers.persistent_volumes.observe_list(with_.client, everywhere);
    const auto volumes = local_volumes_of(with_.informers, *member.claim, member.node.get());
    LocalVolumes held;
    for (const auto& volume : held_among(volumes, view.pool.get(), *member.claim)) {
        const bool is_claimed = co_await has_live_claim(volume);
        if (is_claimed) held.push_back(volume);
    }
    member.facts.held_volumes = named(held);
    co_return volume_blocker(member.facts);
}

asio::awaitable<bool> Queue::has_live_claim(LocalVolume volume) {
    if (volume.is_claim_known) co_return true;
    auto claims = co_await with_.client.list<api::PersistentVolumeClaim>(kube::only(volume.claim));
    const bool is_there = !claims.existing().empty();
    for (auto& claim : claims.objects) with_.informers.persistent_volume_claims.observe(std::move(claim));
    co_return is_there;
}

// ---- writes: decisions at claims, records of pools, and the deletion of a claim

asio::awaitable<void> Queue::remove(const PoolView& view, Member member) {
    if (!with_.may_mutate()) throw std::runtime_error("removing a node: this process may no longer lead");
    const auto kind = *under_way(*member.claim);
    // Another node's removal in the same pass has written the pool too.
    const auto pool = with_.informers.pools.store().get(api::key_of(*view.pool));
    if (!pool) co_return;
    auto after = *pool;
    if (is_scale_down(kind)) after.status.lastScaleDownTime = view.now;
    after.status.lastScaleActivity = view.now;
    const auto claims = with_.informers.claims.store().by_index(kClaimsByPool, api::key_of(*pool).str());
    after.status.openReplacements = with_removed(*pool, claims, *member.claim, view.now);
    if (view.manager && view.manager->spec.rateLimits.maxRemovalsPerHour > 0)
        after.status.recentRemovals = with_removal(*pool, *member.claim, view.now);
    co_await write_status(with_.client, with_.informers.pools, *pool, std::move(after));

    const auto& metadata = member.claim->metadata;
    api::Preconditions same;
    same.uid = metadata.uid;
    co_await with_.client.remove<NodeSmithClaim>(api::key_of(*member.claim), std::move(same));
    deleted_.insert(metadata.uid);
    removed_.with({view.pool->metadata.namespace_, view.pool->metadata.name, std::string(name_of(kind))})
        .add();
    with_.events.event(
        kube::target_of(*member.node), kube::EventType::normal, "RemovingNode",
        std::string(name_of(kind)) + ": the node is drained and its claim " + metadata.name + " is deleted");
    tainted_.erase(metadata.uid);
    with_.announcer.settle(member.node->metadata.uid);
}

asio::awaitable<void> Queue::decided(ClaimPointer claim, Blocker why, std::string cause) {
    auto status = claim->status;
    status.disruptionCause = std::move(cause);
    status.undoneDisruption.clear();
    co_await write_disrupted(std::move(claim), std::move(status), ConditionStatus::True, std::move(why));
}

asio::awaitable<void> Queue::taken_back(ClaimPointer claim, Blocker why, std::optional<Kind> kind) {
    auto status = claim->status;
    status.disruptionCause.clear();
    status.undoneDisruption = kind ? name_of(*kind) : "";
    co_await write_disrupted(std::move(claim), std::move(status), ConditionStatus::False, std::move(why));
}

asio::awaitable<void> Queue::write_disrupted(ClaimPointer claim, api::v1alpha1::ClaimStatus status,
                                             ConditionStatus disrupted, Blocker why) {
    auto after = *claim;
    after.status = std::move(status);
    const auto now = api::Time(with_.clock.wall_now());
    const api::ConditionUpdate update{std::string(conditions::kDisrupted), disrupted, std::move(why.reason),
                                      std::move(why.message), claim->metadata.generation};
    api::set_condition(after.status.conditions, update, now);
    // Concluding here saves the claim's reconciler another write. That reconciler
    // decides whether the Node is Ready.
    conclude(after, std::nullopt, now);
    after.status.phase = claim::phase_of(after);
    co_await write_status(with_.client, with_.informers.claims, *claim, std::move(after));
}

// Writes the pause and catches a failure, so that decisions about the pool's nodes are still carried out.
asio::awaitable<void> Queue::note_replacement(const PoolView& view,
                                              std::optional<api::v1alpha1::ReplacementPause> pause) {
    const auto pool = with_.informers.pools.store().get(api::key_of(*view.pool));
    if (!pool) co_return;
    auto after = *pool;
    after.status.replacementPause = std::move(pause);
    try {
        co_await write_status(with_.client, with_.informers.pools, *pool, std::move(after));
    } catch (const kube::ApiError& error) {
        base::log::warning("The pause between replacements of a pool could not be recorded",
                           {{"pool", api::key_of(*pool).str()}, {"error", error.what()}});
    }
}

}  // namespace controllers::disruption
