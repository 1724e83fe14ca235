// Creates claims: reserves machines within the limits and creates their claims, each batch of a pool in a
// queue of its own. A batch that was interrupted is continued with the same names, as long as its reservation
// may be used. A claim that the API server refuses is dropped and noted, and its reservation settles. A batch
// that is slow, because a webhook hangs for one, goes on by itself and holds up nobody else.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "base/task_group.hpp"
#include "controllers/cache/context.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/provisioning/world.hpp"
#include "controllers/services/reservations.hpp"
#include "controllers/state/claim_factory.hpp"
#include "kube/event_recorder.hpp"

namespace controllers::provisioning {

class ClaimCreator : InContext {
public:
    // Called for each claim that was created.
    using Created = std::function<void(const NodeSmithClaim&, const PlannedClaim&)>;

    // may_mutate: this process surely leads. `ended` is called when a slow batch has ended or was
    // interrupted.
    ClaimCreator(const Context& context, Reservations& reservations, std::function<bool()> may_mutate,
                 Created created, std::function<void()> ended);

    // Reserves as many as fit; work_off() creates their claims. Returns the limit that refused some,
    // if any did. Throws ApiError 409 if somebody else changed the limits' figures: decide anew.
    asio::awaitable<std::optional<limits::LimitHit>> reserve(PoolPointer pool,
                                                             std::vector<PlannedClaim> planned_claims);
    // Starts on what was reserved or interrupted and nothing works on. Only within work_off()'s caller.
    asio::awaitable<void> begin();
    // Starts, too, and returns when all claims are created, but for those of slow batches.
    asio::awaitable<void> work_off();
    // The claims that are still to be created: they count as coming, or others would be ordered for their
    // pods.
    ClaimPointers under_way() const;
    // When the first of the interrupted batches may be continued by work_off(); nullopt: there is none.
    std::optional<base::TimePoint> next_try() const;
    // Cancels what is under way and waits for its end.
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
        std::vector<api::v1alpha1::Size> refused;  // one try for each size tells enough
        bool is_in_work = false;
        bool is_slow = false;
        int failures = 0;
        base::TimePoint began{};
        base::TimePoint continues_at{};  // after a failure
    };
    asio::awaitable<void> create_all_of(Batch& batch);
    asio::awaitable<void> create_all(Batch& batch);
    void note_failure(Batch& batch, const std::string& error);
    asio::awaitable<void> create(Batch& batch, Line line);
    void note_refusal(const NodeSmithPool& pool, const api::v1alpha1::Size& size, std::string message);

    Reservations& reservations_;
    std::function<bool()> may_mutate_;
    Created created_;
    std::function<void()> ended_;
    std::list<Batch> batches_;
    std::optional<base::Event> progress_;
    std::optional<base::TaskGroup> group_;  // made by the first batch, on its executor
};

}  // namespace controllers::provisioning
