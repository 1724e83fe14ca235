// Decides which nodes leave, as carefully as they came: asks the methods (methods/) one after the other for
// nodes that can go, and has the queue see it through. One key per pool.
#pragma once

#include <string>
#include <vector>

#include "controllers/cache/context.hpp"
#include "controllers/disruption/pool_observer.hpp"
#include "controllers/disruption/queue.hpp"
#include "controllers/services/drain.hpp"
#include "kube/controller.hpp"

namespace controllers::disruption {

// Returns the first node of the pool that is kept because replacing it would not help, with what it is kept
// from.
std::optional<Stay> ended_series(const PoolView& view);

class DisruptionReconciler final : public kube::Reconciler, InContext {
public:
    // may_mutate: this process surely leads.
    DisruptionReconciler(const Context& context, const Drainer& drainer, ProviderInstances& instances,
                         DisruptionReports& reports, LookAtWorld look_at_world,
                         std::function<bool()> may_mutate);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

    // Asks providers; reconciles NodeSmithProviders in a queue of its own.
    StoppedMachines& stopped_machines() { return stopped_; }
    // As last judged.
    const Stays& stays() const { return stays_; }

private:
    // Since when nodes are empty or hardly used, and how they drifted, for their claims' status. What was
    // permitted to those that stay is not any more.
    void report_use(Pass& pass);
    // Writes a note in the pool's status. One that is refused must not stop what is decided for its nodes.
    asio::awaitable<void> attempt(Pass& pass, asio::awaitable<void> note);
    // The pool's condition Consolidatable.
    asio::awaitable<void> note_spare(Pass& pass);
    // The pool's condition ReplacementDoesNotHelp, which is there only while a series of replacements is
    // ended.
    asio::awaitable<void> note_series(Pass& pass);

    // ---- decisions (decide.cpp)
    asio::awaitable<void> decide(Pass& pass);
    // Of all methods, in their order.
    std::vector<std::vector<Candidate>> candidates(Pass& pass);
    // Those that no wish, delay or count keeps, in the order in which they should go.
    std::vector<Candidate> unblocked(Pass& pass, Kind kind, std::vector<Candidate> candidates) const;
    // How long none is chosen to have fewer nodes; nullopt: what was evicted last is known again. The last
    // leader may have evicted pods just before this one began.
    std::optional<base::Duration> successors_known_in() const;
    // False: it could not be begun.
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
    std::optional<base::TimePoint> began_;  // to decide; nullopt: not yet
};

}  // namespace controllers::disruption

namespace controllers {
using disruption::DisruptionReconciler;
}
