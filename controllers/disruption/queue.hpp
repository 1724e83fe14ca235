// Carries out the decided disruptions, one step at a time. It taints the node and waits for places for its
// pods. Provisioning launches what is missing, because the node counts as leaving. After a pause it checks
// again by live reads, drains the node, and deletes its claim; or it undoes everything. The claims'
// reconciler carries out what the queue permits. The queue is stored in the claims' status (condition
// Disrupted) and the Nodes' taint, so any process can continue it.
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
        std::function<bool()> may_mutate;  // this process is certainly the leader
    };
    Queue(Means means, base::MetricsRegistry& metrics);

    // Returns false if the claim could not be written, so that nothing has begun.
    asio::awaitable<bool> add(Pass& pass, Command command);
    asio::awaitable<void> advance(Pass& pass);
    // Forgets the claim's taint, which is gone and must settle again next time.
    void is_in_service(const std::string& claim_uid) {
        tainted_.erase(claim_uid);
        permitted_.erase(claim_uid);
    }
    void forget(const std::string& claim_uid);
    // Returns why nothing is decided for the claim's node now, because the last write for it was refused.
    std::optional<Blocker> refusal_of(const NodeSmithClaim& claim) const;

private:
    // Failure describes refused writes for a claim. They are repeated after growing pauses.
    struct Failure {
        int tries = 0;
        base::TimePoint pause_ends{};
        std::string message;
        bool is_unanswered = false;  // the API server did not answer in time
    };
    struct LiveLook {
        std::optional<Blocker> why_not;
        bool is_empty = false;  // no pod has to move
    };

    // Reports whether the claims' reconciler is about to act. A group is not judged separately
    // because some members are ahead.
    bool is_permitted(const NodeSmithClaim& claim) const;
    void permit_power_cycles(Pass& pass);
    std::vector<Member> late_ones_last(std::vector<Member> members) const;
    // Takes one node's step and catches its failure, so that the pool's other nodes get theirs. Returns false
    // if it failed, or is not due after a failure.
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
    // Records a decision. `cause` is the cause of the replacement, see
    // cause_of(); empty: nothing is replaced.
    asio::awaitable<void> decided(ClaimPointer claim, Blocker why, std::string cause);
    // Undoes a decision. It is not taken again for a while, unless `kind` is nullopt.
    asio::awaitable<void> taken_back(ClaimPointer claim, Blocker why, std::optional<Kind> kind);
    asio::awaitable<void> write_disrupted(ClaimPointer claim, api::v1alpha1::ClaimStatus status,
                                          ConditionStatus disrupted, Blocker why);
    // Records how long machines are not created in place of the pool's nodes; nullopt:
    // they are, because one was created.
    asio::awaitable<void> note_replacement(const PoolView& view,
                                           std::optional<api::v1alpha1::ReplacementPause> pause);

    Means with_;
    base::Family<base::Counter>& removed_;
    base::Family<base::Counter>& undone_;
    std::map<std::string, base::TimePoint> tainted_;    // by claim UID: when this process first saw the taint
    std::map<std::string, base::TimePoint> permitted_;  // by claim UID: when it last permitted the drain
    std::map<std::string, Failure> failures_;           // by claim UID
    std::map<std::string, int> overtaken_;  // by claim UID: how often in a row somebody else wrote first
    std::set<std::string> deleted_;         // UIDs of claims that the stores may still show as live
};

}  // namespace controllers::disruption
