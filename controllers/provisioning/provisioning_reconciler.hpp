// Launches machines for pods that fit no node, for minNodes and for headroom, over all pools together. It
// collects a burst of demand, calls the scheduling engine, reserves within the limits, and creates claims. It
// reports what could not be done. It has one key for everything.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/announcer.hpp"
#include "controllers/cache/context.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/provisioning/batching_window.hpp"
#include "controllers/provisioning/claim_creator.hpp"
#include "controllers/provisioning/decision.hpp"
#include "controllers/provisioning/predictions.hpp"
#include "controllers/services/write_turns.hpp"
#include "kube/controller.hpp"
#include "scheduling/solver.hpp"

namespace controllers::provisioning {

class ProvisioningReconciler final : public kube::Reconciler, InContext {
public:
    // may_mutate: this process is certainly the leader.
    ProvisioningReconciler(const Context& context, Reservations& reservations,
                           std::function<bool()> may_mutate);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

    // Cancels running creations of claims and waits for their end.
    asio::awaitable<void> end();

    // Returns the cluster as removals see it: with the pods that may keep a node, and what may be launched.
    World world_for_removals();

private:
    struct Metrics {
        explicit Metrics(base::MetricsRegistry& registry);
        base::Family<base::Counter>& created;
        base::Family<base::Histogram>& pod_to_claim;
        base::Family<base::Histogram>& solve;
        base::Family<base::Counter>& decisions;
        base::Family<base::Gauge>& unplaced;
    };

    bool is_due() const;
    base::Duration time_left() const;
    // Decides and acts once. Afterwards next_look_ holds the time when another look
    // is worthwhile without any change.
    asio::awaitable<void> run();
    // Launches what is certain although the batch is still open.
    asio::awaitable<void> look_early();
    bool is_early_look_due() const;
    // Returns when the first pod arrived that gets nothing by this decision; `now` if all get something.
    base::TimePoint waits_since(const ProvisioningDecision& decision, base::TimePoint now) const;
    ProvisioningDecision decide(api::Time now);
    asio::awaitable<void> launch(const ProvisioningDecision& decision);
    void take_places(const NodeSmithPool& pool, std::vector<PlannedClaim>& planned_claims);
    asio::awaitable<void> launch_for(PoolSupply supply, std::string observed_by,
                                     std::vector<PlannedClaim> planned_claims);
    asio::awaitable<void> withdraw_superfluous();
    asio::awaitable<void> judge_predictions(std::set<std::string> doubted, std::set<std::string> waiting);

    void look_at(std::optional<api::Time> when);
    // Triggers an immediate look from outside of reconcile().
    void look_again();
    void continue_creations();
    void note_created(const NodeSmithClaim& claim, const PlannedClaim& planned_claim);
    DecisionInputs inputs();
    std::map<std::string, int> remembered_launches() const;
    BatchingDurations durations() const;
    void changed();

    Announcer announcer_;
    Reservations& reservations_;
    Metrics metrics_;
    claim::TemplateHashes template_hashes_;
    ClaimCreator claim_creator_;
    WriteTurns reserving_turns_;  // of pools
    WriteTurns withdrawals_;      // of superfluous claims
    WriteTurns predictions_;      // of pools
    scheduling::Solver solver_;   // shared by all decisions, because it caches what nodes hold
    kube::WorkQueue* queue_ = nullptr;

    BatchingWindow window_;
    bool unfinished_ = false;  // a decision was interrupted by a failure
    std::optional<base::TimePoint> next_look_;
    // Waiting holds what this process knows about a waiting pod.
    struct Waiting {
        base::TimePoint since;
        std::vector<base::TimePoint> launches;
    };
    std::map<std::string, Waiting> waiting_;  // by pod UID
};

}  // namespace controllers::provisioning

namespace controllers {
using provisioning::ProvisioningReconciler;
}
