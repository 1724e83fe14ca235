// Writes the status, conditions and finalizer of a NodeSmithPool. Provisioning and disruption decide about
// launches and removals; they write other fields of the status.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/cache/context.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/services/addresses.hpp"
#include "controllers/services/reservations.hpp"
#include "controllers/services/write_turns.hpp"
#include "controllers/state/pool_status.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"

namespace controllers {

class PoolReconciler final : public kube::Reconciler, InContext {
public:
    PoolReconciler(const Context& context, Reservations& reservations);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    using Pointer = PoolPointer;

    PoolObservation look(const NodeSmithPool& pool) const;
    std::int64_t creations_last_hour(const NodeSmithControlPlane& manager) const;
    // Deletes the pool's claims and removes the finalizer when the last one is gone.
    asio::awaitable<kube::Result> finalize(Pointer pool);
    asio::awaitable<void> delete_claims(Pointer pool, std::vector<NodeSmithClaim> claims);
    asio::awaitable<void> delete_claim(Pointer pool, NodeSmithClaim claim);
    void say_what_others_do(const NodeSmithPool& before, const NodeSmithPool& after);
    void say_what_is_wrong(const NodeSmithPool& before, const NodeSmithPool& after);
    void say_what_was_learned(const NodeSmithPool& before, const NodeSmithPool& after);

    Reservations& reservations_;
    // Deletion records how far the deletion of a pool's claims has come.
    struct Deletion {
        WriteTurns turns;
        bool has_unanswered = false;  // in this round
        std::string refusal;          // names a claim that cannot be deleted, and why
    };
    std::map<kube::ObjectKey, Deletion> deletions_;
    Addresses addresses_;
};

}  // namespace controllers
