// Creates claims: reserves machines within the limits and creates their claims. A batch that was interrupted
// is continued with the same names, as long as its reservation may be used.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <list>
#include <vector>

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

    // may_mutate: this process surely leads.
    ClaimCreator(const Context& context, Reservations& reservations, std::function<bool()> may_mutate,
                 Created created);

    // Reserves as many as fit and creates their claims. Returns the limit that refused some, if any did.
    // Throws ApiError 409 if somebody else changed the limits' figures: decide anew.
    asio::awaitable<std::optional<limits::LimitHit>> reserve_and_create(
        PoolPointer pool, std::vector<PlannedClaim> planned_claims);
    // Goes on with what was interrupted.
    asio::awaitable<void> finish();

private:
    struct Line {
        std::int64_t sequence = 0;
        PlannedClaim planned_claim;
    };
    struct Batch {
        PoolPointer pool;
        Reservation reservation;
        std::deque<Line> left;
    };
    asio::awaitable<void> work_off(Batch& batch);
    asio::awaitable<void> create(PoolPointer pool, Line line);

    Reservations& reservations_;
    std::function<bool()> may_mutate_;
    Created created_;
    std::list<Batch> batches_;
};

}  // namespace controllers::provisioning
