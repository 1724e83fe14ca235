// Decides which nodes are removed. It asks the methods (methods/) one after the other for removable nodes,
// and the queue carries out the removal. It has one key per pool.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/metrics.hpp"
#include "controllers/cache/context.hpp"
#include "controllers/disruption/pool_observer.hpp"
#include "controllers/disruption/queue.hpp"
#include "controllers/services/drain.hpp"
#include "kube/controller.hpp"

namespace controllers::disruption {

// Returns the first node of the pool whose replacement would not help, and
// the disruption that it is kept from.
std::optional<Stay> ended_series(const PoolView& view);

// DisruptionMetrics says how many nodes of a pool could be removed and may be, and how long a decision takes.
class DisruptionMetrics {
public:
    // `registry` must outlive this.
    explicit DisruptionMetrics(base::MetricsRegistry& registry);

    // Records the candidates of all methods, in the order of the methods, and what the pool allows.
    void note(const PoolView& view, const std::vector<std::vector<Candidate>>& found);
    void note_decision(base::Duration took);
    // Removes the gauges of a pool that is gone.
    void forget(const kube::ObjectKey& pool);

private:
    base::Family<base::Gauge>& eligible_;
    base::Family<base::Gauge>& allowed_;
    base::Histogram& took_;
};

class DisruptionReconciler final : public kube::Reconciler, InContext {
public:
    // may_mutate: this process is certainly the leader.
    DisruptionReconciler(const Context& context, const Drainer& drainer, ProviderInstances& instances,
                         DisruptionReports& reports, LookAtWorld look_at_world,
                         std::function<bool()> may_mutate);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

    // Returns the part that asks providers about NodeSmithProviders, in a separate queue.
    StoppedMachines& stopped_machines() { return stopped_; }
    // Returns the results of the last decision.
    const Stays& stays() const { return stays_; }

private:
    // Reports for the claims' status since when nodes are empty or underused, and how they drifted. It
    // revokes permissions of nodes that are kept.
    void report_use(Pass& pass);
    // Writes a note into the pool's status. A refused write must not stop the decisions about its nodes.
    asio::awaitable<void> attempt(Pass& pass, asio::awaitable<void> note);
    // Writes the pool's condition Consolidatable.
    asio::awaitable<void> note_spare(Pass& pass);
    // Writes the pool's condition ReplacementDoesNotHelp, which exists only while a
    // series of replacements is ended.
    asio::awaitable<void> note_series(Pass& pass);

    // ---- decisions
    asio::awaitable<void> decide(Pass& pass);
    // Returns the candidates of all methods, in the order of the methods.
    std::vector<std::vector<Candidate>> candidates(Pass& pass);
    // Returns the candidates that no setting, delay or budget blocks, in the order of removal.
    std::vector<Candidate> unblocked(Pass& pass, Kind kind, std::vector<Candidate> candidates) const;
    // Returns how long no node is chosen to reduce the count; nullopt: the successors of evicted pods are
    // known. The previous leader may have evicted pods just before this one started.
    std::optional<base::Duration> successors_known_in() const;
    // Returns false if the disruption could not be begun.
    asio::awaitable<bool> carry_out(Pass& pass, Command command);
    void say_what_stays(Pass& pass, const std::set<std::string>& chosen);

    const Drainer& drainer_;
    DisruptionReports& reports_;
    LookAtWorld look_at_world_;
    Announcer announcer_;
    scheduling::Solver solver_;
    Refusals refusals_;
    StoppedMachines stopped_;
    PoolObserver observer_;
    Queue queue_;
    Stays stays_;
    DisruptionMetrics metrics_;
    std::map<kube::ObjectKey, base::TimePoint> quiet_until_;  // pools whose status took long to write
    std::optional<base::TimePoint> began_;                    // start of the decisions; nullopt: not yet
};

}  // namespace controllers::disruption

namespace controllers {
using disruption::DisruptionReconciler;
}
