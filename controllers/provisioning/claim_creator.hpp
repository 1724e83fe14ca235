// Reserves machines within the limits and creates their claims, with a separate task for each batch of a
// pool. An interrupted batch continues with the same names while its reservation is valid. A claim that the
// API server refuses is dropped and recorded, and its reservation settles. A slow batch, for example because
// of a webhook that hangs, continues alone and delays no other one.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/condition_variable.hpp"
#include "base/task_group.hpp"
#include "controllers/cache/context.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"
#include "controllers/provisioning/world.hpp"
#include "controllers/services/reservations.hpp"
#include "kube/event_recorder.hpp"

namespace controllers::provisioning {

class ClaimCreator : InContext {
public:
    // Called for each created claim.
    using Created = std::function<void(const NodeSmithClaim&, const PlannedClaim&)>;

    // may_mutate: this process is certainly the leader. `ended` is called when a slow
    // batch has ended or was interrupted.
    ClaimCreator(const Context& context, Reservations& reservations, std::function<bool()> may_mutate,
                 Created created, std::function<void()> ended);

    // Reserves as many as fit; work_off() creates their claims. Returns a limit that refused some, if any
    // did. Throws ApiError 409 if the limits' figures changed meanwhile: the caller must decide again.
    asio::awaitable<std::optional<limits::LimitHit>> reserve(PoolPointer pool,
                                                             std::vector<PlannedClaim> planned_claims);
    // Starts tasks for idle batches that are reserved or interrupted. Must be
    // called from work_off()'s caller.
    asio::awaitable<void> begin();
    // Does the same, and returns when all claims except those of slow batches are created.
    asio::awaitable<void> work_off();
    // Returns the claims that are still to be created. They count as coming, because otherwise more
    // would be launched for their pods.
    ClaimPointers under_way() const;
    // Returns when work_off() may continue the first interrupted batch; nullopt: none is interrupted.
    std::optional<base::TimePoint> next_try() const;
    // Cancels running tasks and waits for their end.
    asio::awaitable<void> end();

private:
    struct Line {
        std::int64_t sequence = 0;
        PlannedClaim planned_claim;
    };
    struct Batch {
        PoolPointer pool;
        Reservation reservation;
        std::deque<Line> left;
        std::vector<api::v1alpha1::Size> refused;  // one refused attempt for each size suffices
        bool is_in_work = false;
        bool is_slow = false;
        int failures = 0;
        base::TimePoint began{};
        base::TimePoint continues_at{};  // after a failure
    };
    asio::awaitable<void> create_all_of(Batch& batch);
    asio::awaitable<void> create_all(Batch& batch);
    void note_failure(Batch& batch, const std::string& error);
    void tell_pods(const kube::EventTarget& claim, const PlannedClaim& planned_claim);
    asio::awaitable<void> create(Batch& batch, Line line);
    void note_refusal(const NodeSmithPool& pool, const api::v1alpha1::Size& size, std::string message);

    Reservations& reservations_;
    std::function<bool()> may_mutate_;
    Created created_;
    std::function<void()> ended_;
    std::list<Batch> batches_;
    std::optional<base::ConditionVariable> progress_;
    std::optional<base::TaskGroup> group_;  // created by the first batch, on its executor
};

}  // namespace controllers::provisioning
