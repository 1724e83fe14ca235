// Makes writes to claims, with the resulting Events and metrics.
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

    // Writes the status if it differs, with an Event for each changed condition. Returns the written claim.
    // Throws ApiError 409 if the claim changed meanwhile.
    asio::awaitable<ClaimPointer> record(Observation observation, ClaimStatus status);
    // Writes the outcome of a step, together with what the next decision would write before its own step.
    asio::awaitable<ClaimPointer> record_outcome(Observation observation, ClaimStatus status);
    // Reports whether the stores are receiving a status that record() wrote. The caller of record() continues
    // by itself, so no wake is needed.
    bool is_recording() const { return is_recording_; }
    asio::awaitable<void> add_finalizer(ClaimPointer claim);
    asio::awaitable<void> drop_finalizer(ClaimPointer claim);
    // Removes the annotations by which a person decided about the claim's machine.
    asio::awaitable<void> forget_statements(ClaimPointer claim);
    // Requests the claim's deletion; its removal follows.
    asio::awaitable<void> remove(ClaimPointer claim);

    // Warns, on the claim and on each pod, that protected pods will be evicted because a user removes their
    // node. Each pod is mentioned once.
    void warn_of_evictions(const Observation& observation, const PodPointers& pods);

    // Warns once, on the claim and its Node, which volumes are lost with the removed machine.
    void warn_of_lost_volumes(const Observation& observation);

private:
    // Counts a Node or machine that others removed. Must run before the claim, its last trace, is deleted.
    asio::awaitable<void> remember_loss(NodeSmithClaim claim);
    void announce(const NodeSmithClaim& before, const NodeSmithClaim& after);
    void measure(const NodeSmithClaim& before, const NodeSmithClaim& after);
    // Counts a stage of the claim that began then and ends now.
    void note_stage(const NodeSmithClaim& claim, const char* stage, std::optional<api::Time> begin);

    base::Family<base::Histogram>& stages_;
    base::Family<base::Counter>& failures_;
    bool is_recording_ = false;
    std::set<std::string> warned_;             // UIDs of pods
    std::set<std::string> warned_of_volumes_;  // UIDs of claims
};

// Returns the type of Event for a changed condition; nullopt: no Event, because it only shows progress.
std::optional<kube::EventType> event_type(const api::Condition& condition);

}  // namespace controllers::claim
