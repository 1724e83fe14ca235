// Removes empty nodes. One removal is: decided (condition Disrupted with reason Empty), the node tainted,
// looked at again after a pause by live reads, then the claim deleted, or all of it undone. Each step can be
// found again after a crash. One key per pool.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controllers/announcer.hpp"
#include "controllers/informers.hpp"
#include "controllers/scale_down_decision.hpp"
#include "kube/controller.hpp"

namespace controllers {

// Why the Node cannot go although it is empty, by a scheduling simulation over what is known now; empty: it
// can.
using WhyNeeded = std::function<std::vector<std::string>(const std::string& node)>;

class ScaleDownReconciler final : public kube::Reconciler {
public:
    // All must outlive this. may_mutate: this process surely leads.
    ScaleDownReconciler(Informers& informers, kube::Client& client, base::Clock& clock,
                        kube::EventRecorder& events, base::MetricsRegistry& metrics, WhyNeeded why_needed,
                        std::function<bool()> may_mutate);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    using ClaimPointer = kube::Store<api::v1alpha1::NodeSmithClaim>::Pointer;
    using NodePointer = kube::Store<api::Node>::Pointer;
    using PoolPointer = kube::Store<api::v1alpha1::NodeSmithPool>::Pointer;
    using ControlPlanePointer = kube::Store<api::v1alpha1::NodeSmithControlPlane>::Pointer;

    // A claim whose Node is there.
    struct Member {
        ClaimPointer claim;
        NodePointer node;
        std::int64_t evictable_pods = 0;
    };
    // What is known of a pool, held together while a pass works with it.
    struct View {
        PoolPointer pool;
        ControlPlanePointer manager;  // null: not managed
        Fleet manager_fleet;
        std::vector<Member> members;
        std::int64_t staying = 0;
        std::int64_t leaving = 0;
        api::Time now;
    };

    View look(PoolPointer pool);
    PoolRemovalFacts pool_facts(const View& view);
    static bool observes(const View& view);
    std::optional<Blocker> judge(const View& view, const Member& member) const;

    // Writes status.emptySince where it changed.
    asio::awaitable<void> note_emptiness(View view);
    // Taints of ours that no decision stands behind: left by a crash or by a decision that was undone.
    asio::awaitable<void> remove_stale_taints(View view);
    // One step further with a removal that was decided. Returns when to look again.
    asio::awaitable<std::optional<base::Duration>> advance(View view, Member member);
    asio::awaitable<void> undo(Member member, Blocker why);
    asio::awaitable<void> remove(View view, Member member);
    asio::awaitable<std::optional<Blocker>> look_live(Member member);
    // Begins at most one removal; says why the other empty nodes stay.
    asio::awaitable<std::optional<base::Duration>> decide(View view);
    asio::awaitable<void> set_disrupted(ClaimPointer claim, api::ConditionStatus status, std::string reason,
                                        std::string message);
    asio::awaitable<void> patch_node(NodePointer before, api::Node after);
    std::int64_t removals_last_hour(const kube::ObjectKey& manager);

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    kube::EventRecorder& events_;
    Announcer announcer_;
    WhyNeeded why_needed_;
    std::function<bool()> may_mutate_;
    base::Family<base::Counter>& removed_;
    base::Family<base::Counter>& undone_;
    std::map<std::string, base::TimePoint> tainted_;  // by claim UID: when this process first saw it so
    std::map<kube::ObjectKey, std::deque<base::TimePoint>> removals_;  // by manager
};

}  // namespace controllers
