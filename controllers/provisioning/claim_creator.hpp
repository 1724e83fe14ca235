// Creates claims: reserves machines within the limits and creates their claims, each pool's in a queue of its
// own. A batch that was interrupted is continued with the same names, as long as its reservation may be used.
// A claim that the API server refuses is dropped and noted, and its reservation settles.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <string>
#include <vector>

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

    // may_mutate: this process surely leads.
    ClaimCreator(const Context& context, Reservations& reservations, std::function<bool()> may_mutate,
                 Created created);

    // Reserves as many as fit; begin() or finish() creates their claims. Returns the limit that refused some,
    // if any did. Throws ApiError 409 if somebody else changed the limits' figures: decide anew.
    asio::awaitable<std::optional<limits::LimitHit>> reserve(PoolPointer pool,
                                                             std::vector<PlannedClaim> planned_claims);
    // Starts on what was reserved and nothing works on. The group is joined before conclude().
    void begin(base::TaskGroup& group);
    // Forgets what is done. Throws what interrupted a pool, if anything did: finish() goes on with its
    // claims.
    void conclude();
    // Goes on with what was interrupted, of all pools side by side.
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
        std::vector<api::v1alpha1::Size> refused;  // one try for each size tells enough
        bool is_in_work = false;
        std::exception_ptr failure;
    };
    asio::awaitable<void> work_off(Batch& batch);
    asio::awaitable<void> create_all(Batch& batch);
    asio::awaitable<void> create(Batch& batch, Line line);
    void note_refusal(const NodeSmithPool& pool, const api::v1alpha1::Size& size, std::string message);

    Reservations& reservations_;
    std::function<bool()> may_mutate_;
    Created created_;
    std::list<Batch> batches_;
};

}  // namespace controllers::provisioning
