// Every write to a claim, with the Events and metrics that follow from it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/metrics.hpp"
#include "controllers/cache/context.hpp"
#include "controllers/claim/decide/observation.hpp"
#include "kube/client.hpp"
#include "kube/event_recorder.hpp"

namespace controllers::claim {

class Writer : InContext {
public:
    Writer(const Context& context);

    // Writes the status if it differs, with an Event for each condition that is news. Returns the claim as it
    // is then. Throws ApiError 409 if the claim changed meanwhile.
    asio::awaitable<ClaimPointer> record(Observation observation, ClaimStatus status);
    // For the outcome of a step: together with what the next decision would write before its own step.
    asio::awaitable<ClaimPointer> record_outcome(Observation observation, ClaimStatus status);
    // True while the stores are told of a status that record() wrote: who called it goes on by itself.
    bool is_recording() const { return is_recording_; }
    asio::awaitable<void> add_finalizer(ClaimPointer claim);
    asio::awaitable<void> drop_finalizer(ClaimPointer claim);
    // Asks for its deletion; what follows is the removal.
    asio::awaitable<void> remove(ClaimPointer claim);

    // Says, on the claim and on each pod, that pods which something protects are about to be evicted, as
    // their node goes by a user's wish. Each is told of once.
    void warn_of_evictions(const Observation& observation, const PodPointers& pods);

    // Says once, on the claim and its Node, which volumes are lost with the machine that is removed.
    void warn_of_lost_volumes(const Observation& observation);

    // Keeps the gauge of claims by phase.
    void count(const NodeSmithClaim* before, const NodeSmithClaim* after);

private:
    // Counts a Node or machine that others took away before the claim, its last trace, goes.
    asio::awaitable<void> remember_loss(NodeSmithClaim claim);
    void announce(const NodeSmithClaim& before, const NodeSmithClaim& after);
    void measure(const NodeSmithClaim& before, const NodeSmithClaim& after);

    base::Family<base::Gauge>& claims_;
    base::Family<base::Histogram>& stages_;
    base::Family<base::Counter>& failures_;
    bool is_recording_ = false;
    std::set<std::string> warned_;             // UIDs of pods
    std::set<std::string> warned_of_volumes_;  // UIDs of claims
};

// The Event that a changed condition is worth; nullopt: none, it only tells of progress.
std::optional<kube::EventType> event_type(const api::Condition& condition);

}  // namespace controllers::claim
