// Writes the status of a NodeSmithControlPlane: whether its pools are complete and healthy, and their totals.
// The launching and removing code itself applies this status as a gate; see membership.hpp.
#pragma once

#include "controllers/cache/context.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/services/reservations.hpp"
#include "controllers/state/control_plane_status.hpp"
#include "controllers/state/token_rights.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"

namespace controllers {

class ControlPlaneReconciler final : public kube::Reconciler, InContext {
public:
    ControlPlaneReconciler(const Context& context, Reservations& reservations);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    ControlPlaneFacts look(const NodeSmithControlPlane& object) const;

    Reservations& reservations_;
    TokenRightsReview token_rights_;
};

}  // namespace controllers
