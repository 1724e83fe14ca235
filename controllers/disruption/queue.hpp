// The disruptions that were decided, each taken one step further at a time: the node tainted, its pods' next
// places awaited (provisioning launches what is missing, because the node counts as leaving), looked at again
// after a pause by live reads, drained, and its claim deleted; or all of it undone. What is permitted here
// the claims' reconciler carries out. The queue itself is the claims' status (condition Disrupted) and the
// Nodes' taint, where any process finds it again.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/announcer.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/disruption/methods/method.hpp"
#include "controllers/services/disruption_reports.hpp"

namespace controllers::disruption {

class Queue {
public:
    struct Means {
        Informers& informers;
        kube::Client& client;
        base::Clock& clock;
        kube::EventRecorder& events;
        Announcer& announcer;
        DisruptionReports& reports;
        Refusals& refusals;
        std::function<bool()> may_mutate;  // this process surely leads
    };
    Queue(Means means, base::MetricsRegistry& metrics);

    // False: the claim could not be written, so nothing has begun.
    asio::awaitable<bool> add(Pass& pass, Command command);
    asio::awaitable<void> advance(Pass& pass);
    // Its taint has gone, so it has to settle anew.
    void is_in_service(const std::string& claim_uid) {
        tainted_.erase(claim_uid);
        permitted_.erase(claim_uid);
    }
    void forget(const std::string& claim_uid);
    // Why nothing is decided for the claim's node now, as the last write for it was refused.
    std::optional<Blocker> refusal_of(const NodeSmithClaim& claim) const;

private:
    // Writes for a claim that the API server refused are tried again after a pause that grows.
    struct Failure {
        int tries = 0;
        base::TimePoint pause_ends{};
        std::string message;
    };
    struct LiveLook {
        std::optional<Blocker> why_not;
        bool is_empty = false;  // no pod has to move
    };

    // The claims' reconciler is about to do it: what goes together is not judged apart because some are
    // ahead.
    bool is_permitted(const NodeSmithClaim& claim) const;
    void permit_power_cycles(Pass& pass);
    // Takes one node's step. One that fails must not keep the other nodes of the pool from theirs, so it ends
    // here. False: it failed, or is not due after it failed.
    asio::awaitable<bool> attempt(Pass& pass, Member member, asio::awaitable<void> step);
    asio::awaitable<void> begin(Pass& pass, Command command);
    asio::awaitable<void> prepare(Pass& pass, Member member, std::vector<Member>& prepared);
    asio::awaitable<void> depart(Pass& pass, std::vector<Member> group, Kind kind, bool is_busy);
    asio::awaitable<void> let_drain(Pass& pass, Member member, bool all_at_once);
    asio::awaitable<LiveLook> look_live(const PoolView& view, Member member, Kind kind, bool all_at_once);
    asio::awaitable<std::optional<Blocker>> look_for_volumes(const PoolView& view, Member member);
    asio::awaitable<bool> has_live_claim(LocalVolume volume);
    asio::awaitable<void> follow_drain(Pass& pass, Member member);
    asio::awaitable<void> remove_unless_held(Pass& pass, Member member);
    asio::awaitable<void> undo(Pass& pass, Member member, Blocker why);
    asio::awaitable<void> remove(const PoolView& view, Member member);
    // `cause` is what is replaced for, see cause_of(); empty: nothing is replaced.
    asio::awaitable<void> decided(ClaimPointer claim, Blocker why, std::string cause);
    // What is undone is not begun again for a while, unless it is no kind.
    asio::awaitable<void> taken_back(ClaimPointer claim, Blocker why, std::optional<Kind> kind);
    asio::awaitable<void> write_disrupted(ClaimPointer claim, api::v1alpha1::ClaimStatus status,
                                          ConditionStatus disrupted, Blocker why);
    // Notes how long machines are not created instead of the pool's nodes; nullopt: they are, as one came.
    asio::awaitable<void> note_replacement(const PoolView& view,
                                           std::optional<api::v1alpha1::ReplacementPause> pause);

    Means with_;
    base::Family<base::Counter>& removed_;
    base::Family<base::Counter>& undone_;
    std::map<std::string, base::TimePoint> tainted_;    // by claim UID: when this process first saw it so
    std::map<std::string, base::TimePoint> permitted_;  // by claim UID: when it was last let drain
    std::map<std::string, Failure> failures_;           // by claim UID
    std::set<std::string> deleted_;  // UIDs of claims that the stores may still show as live
};

}  // namespace controllers::disruption
