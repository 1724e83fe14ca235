// The status, conditions and finalizer of a NodeSmithPool, the only writer of all of these. What is launched
// is decided in provisioning/, what is removed in disruption/; both write other fields of the status.
#pragma once

#include "controllers/cache/informers.hpp"
#include "controllers/services/addresses.hpp"
#include "controllers/services/reservations.hpp"
#include "controllers/state/pool_status.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"

namespace controllers {

class PoolReconciler final : public kube::Reconciler {
public:
    // All must outlive this.
    PoolReconciler(Informers& informers, kube::Client& client, base::Clock& clock,
                   kube::EventRecorder& events, base::MetricsRegistry& metrics, Reservations& reservations);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    using Pointer = kube::Store<api::v1alpha1::NodeSmithPool>::Pointer;

    PoolObservation look(const api::v1alpha1::NodeSmithPool& pool) const;
    // Deletes the pool's claims and lets the pool go when the last one is gone.
    asio::awaitable<kube::Result> finalize(Pointer pool);
    void say_what_cannot_boot(const api::v1alpha1::NodeSmithPool& before,
                              const api::v1alpha1::NodeSmithPool& after);
    void say_what_was_learned(const api::v1alpha1::NodeSmithPool& before,
                              const api::v1alpha1::NodeSmithPool& after);
    void publish(const api::v1alpha1::NodeSmithPool& pool);
    void forget(const kube::ObjectKey& key);

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    kube::EventRecorder& events_;
    Reservations& reservations_;
    Addresses addresses_;
    base::Family<base::Gauge>& used_;
    base::Family<base::Gauge>& limit_;
};

}  // namespace controllers
