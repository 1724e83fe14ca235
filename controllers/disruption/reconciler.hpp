// Decides which nodes leave, as carefully as they came. One disruption is: decided (condition Disrupted with
// its kind), the node tainted, its pods' next places awaited (provisioning buys what is missing, because the
// node counts as leaving), looked at again after a pause by live reads, drained, and its claim deleted; or
// all of it undone. What is decided and permitted here the claims' reconciler carries out: it taints, drains
// and switches. Every step can be found again after a crash, in the claim's status and the Node's taint. One
// key per pool.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/announcer.hpp"
#include "controllers/disruption/blocks.hpp"
#include "controllers/disruption/consolidation.hpp"
#include "controllers/disruption/outlook.hpp"
#include "controllers/disruption/pods.hpp"
#include "controllers/provisioning/snapshot.hpp"
#include "controllers/services/disruption_reports.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/services/provider_instances.hpp"
#include "controllers/state/template_hash.hpp"
#include "kube/controller.hpp"
#include "scheduling/solver.hpp"

namespace controllers::disruption {

// The cluster as removals are judged by it.
using LookAtWorld = std::function<provisioning::World()>;

class DisruptionReconciler final : public kube::Reconciler {
public:
    // All must outlive this. may_mutate: this process surely leads.
    DisruptionReconciler(Informers& informers, kube::Client& client, base::Clock& clock,
                         kube::EventRecorder& events, base::MetricsRegistry& metrics, const Drainer& drainer,
                         ProviderInstances& instances, DisruptionReports& reports, LookAtWorld look_at_world,
                         std::function<bool()> may_mutate);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

    // Why nodes stay although they could go, as last judged; by node. For /debug/state.
    struct Stay {
        Kind kind = Kind::Empty;
        Blocker blocker;
    };
    const std::map<std::string, Stay>& stays() const { return stays_; }

private:
    using ClaimPointer = kube::Store<api::v1alpha1::NodeSmithClaim>::Pointer;
    using NodePointer = kube::Store<api::Node>::Pointer;
    using PoolPointer = kube::Store<api::v1alpha1::NodeSmithPool>::Pointer;
    using ControlPlanePointer = kube::Store<api::v1alpha1::NodeSmithControlPlane>::Pointer;
    using MaybeWait = std::optional<base::Duration>;

    // A claim whose Node is there.
    struct Member {
        ClaimPointer claim;
        NodePointer node;
        PodPointers pods;
        std::int64_t evictable_pods = 0;
        NodeUse use;
        std::string evacuated;
        std::string drift;
    };
    // What is known of a pool, held together while a pass works with it.
    struct View {
        PoolPointer pool;
        ControlPlanePointer manager;  // null: not managed
        std::string template_hash;    // the pool's present one; empty: its provider is not there
        std::vector<Member> members;
        PoolUse use;
        std::optional<api::Time> spare_since;  // since when fewer nodes would do
        BudgetPointers budgets;                // PodDisruptionBudgets of all namespaces
        Fleet manager_fleet;
        std::int64_t in_service = 0;
        std::int64_t staying = 0;
        std::int64_t leaving = 0;
        std::int64_t stuck = 0;
        std::int64_t repairs = 0;
        std::int64_t not_ready = 0;
        bool is_growing = false;  // claims are on their way
        std::optional<api::Time> last_failure;
        api::Time now;

        bool observes() const;
    };
    // What one pass finds out and hands on.
    struct Pass {
        View view;
        std::shared_ptr<provisioning::World> world;  // null: not looked at yet
        std::map<std::string, std::size_t> places;   // of nodes in its snapshot, by name
        MaybeWait again;
    };

    // ---- what is (view.cpp)
    View look(PoolPointer pool);
    Member look_at_member(const View& view, ClaimPointer claim, NodePointer node) const;
    void count(View& view, const api::v1alpha1::NodeSmithClaim& claim) const;
    PoolFacts facts_of(const View& view);
    NodeFacts facts_of(const View& view, const Member& member) const;
    std::optional<std::size_t> place_in_world(Pass& pass, const Member& member);

    // ---- before any decision
    // Since when nodes are empty or hardly used, and how they drifted, for their claims' status. What was
    // permitted in an earlier pass is not any more.
    void report_use(Pass& pass);
    // The pool's condition Consolidatable. Whether anything was written.
    asio::awaitable<bool> note_spare(View view);

    // ---- decisions (decide.cpp)
    asio::awaitable<void> decide(Pass& pass);
    struct Choice {
        Member member;
        Candidacy candidacy;
        std::string plan;      // for people
        bool is_busy = false;  // underutilized is the pool, not the node
    };
    // The next to go, in the order of the queue; says why others stay.
    std::vector<Choice> choose(Pass& pass);
    // How long none is chosen to have fewer nodes; nullopt: what was evicted last is known again.
    std::optional<base::Duration> successors_known_in() const;
    // What can be said without looking at others: underutilized nodes are judged together.
    std::optional<Choice> consider(Pass& pass, const Member& member, const Candidacies& candidacies);
    // The references are the view's.
    static PodRules pod_rules(const View& view, const Member& member, Kind kind, bool all_at_once = false);
    std::optional<Blocker> judge(Pass& pass, const Member& member, Kind kind, std::string& plan);
    std::vector<Choice> consolidate(Pass& pass, const std::vector<Choice>& idle);
    void refuse(Pass& pass, const Choice& choice, const std::string& why);
    std::size_t how_many_may_begin(const View& view, Kind kind);
    void say_stay(Pass& pass, const Member& member, Kind kind, const Blocker& why);
    asio::awaitable<void> begin(Choice choice);

    // ---- one under way (advance.cpp)
    asio::awaitable<void> advance(Pass& pass);
    asio::awaitable<void> prepare(Pass& pass, Member member, std::vector<Member>& prepared);
    asio::awaitable<void> depart(Pass& pass, std::vector<Member> group, Kind kind, bool is_busy);
    asio::awaitable<void> let_drain(Pass& pass, Member member, bool all_at_once);
    asio::awaitable<void> follow_drain(Pass& pass, Member member);
    std::optional<Blocker> no_longer(const View& view, const Member& member, Kind kind);
    struct LiveLook {
        std::optional<Blocker> why_not;
        bool is_empty = false;  // no pod has to move
    };
    asio::awaitable<LiveLook> look_live(View view, Member member, Kind kind, bool all_at_once);
    asio::awaitable<void> undo(Member member, Blocker why);
    asio::awaitable<void> remove(View view, Member member);

    // ---- repair (repair.cpp)
    // Asks providers whether machines of Nodes that are not Ready are switched off.
    asio::awaitable<void> look_at_machines(View view);
    // Whether the pool wants its power switched off and on before it is replaced, and that was not tried
    // lately.
    static bool has_a_second_chance(const View& view, const Member& member);
    void begin_power_cycle(const Member& member);
    void permit_power_cycles(Pass& pass);

    asio::awaitable<void> set_disrupted(ClaimPointer claim, api::ConditionStatus status, std::string reason,
                                        std::string message);
    std::int64_t removals_last_hour(const kube::ObjectKey& manager);

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    kube::EventRecorder& events_;
    Announcer announcer_;
    const Drainer& drainer_;
    ProviderInstances& instances_;
    DisruptionReports& reports_;
    LookAtWorld look_at_world_;
    std::function<bool()> may_mutate_;
    scheduling::Solver solver_;
    base::Family<base::Counter>& removed_;
    base::Family<base::Counter>& undone_;
    claim::TemplateHashes hashes_;
    std::map<std::string, Stay> stays_;
    std::map<std::string, base::TimePoint> tainted_;  // by claim UID: when this process first saw it so
    std::map<kube::ObjectKey, std::deque<base::TimePoint>> removals_;  // by manager
    // By claim UID: what was found in the way of its leaving, so that it is not tried again at once.
    struct Refusal {
        Kind kind = Kind::Empty;
        base::TimePoint at;
        std::string message;
    };
    std::map<std::string, Refusal> refused_;
    // While it holds; sets when to look again.
    const Refusal* refusal_of(Pass& pass, const Member& member, Kind kind) const;
    std::map<std::string, base::TimePoint> asked_;  // by claim UID: when its machine was last looked at
    std::map<std::string, bool> switched_off_;      // by claim UID
    std::set<std::string> deleted_;                 // UIDs of claims that the stores may still show as live
};

}  // namespace controllers::disruption

namespace controllers {
using disruption::DisruptionReconciler;
}
