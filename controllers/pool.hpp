// The status, conditions and finalizer of a NodeSmithPool, the only writer of all of these. What is bought is
// decided in provisioning/, what is removed in disruption/; both write other fields of the status.
#pragma once

#include <optional>
#include <string>

#include "controllers/addresses.hpp"
#include "controllers/fleet.hpp"
#include "controllers/informers.hpp"
#include "controllers/membership.hpp"
#include "controllers/reservations.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"

namespace controllers {

struct PoolFacts {
    const api::v1alpha1::NodeSmithPool& object;
    ClaimPointers claims;
    const Nodes& nodes;
    const api::v1alpha1::NodeSmithControlPlane* manager = nullptr;  // null: not managed
    const api::v1alpha1::NodeSmithProvider* provider = nullptr;     // null: not there
    const api::v1alpha1::NodeSmithPool* label_conflict = nullptr;   // the older pool with the same label
    std::vector<std::shared_ptr<const api::v1alpha1::NodeSmithHost>> bare_metal;  // of its provider
};

// No claim has the bare-metal host, and one can.
bool is_free(const api::v1alpha1::NodeSmithHost& host);

// The status as it should be now. Pure.
api::v1alpha1::PoolStatus next_status(const PoolFacts& facts, api::Time now);

// Whether machines of this pool have anything that would make them join: the condition ConfigurationValid,
// which is there only while they have not.
void judge_boot(const PoolFacts& facts, api::v1alpha1::PoolStatus& status, api::Time now);

// The most that a machine of this pool ever had less to offer than it was bought for: kernel and firmware
// (size - capacity) plus what the kubelet keeps (capacity - allocatable). nullopt: never seen a Node.
std::optional<api::v1alpha1::SystemReserved> learn_reserved(const PoolFacts& facts);

// The least that Nodes of the present template offer besides; what was known before if there is none.
std::optional<api::v1alpha1::LearnedOffer> learn_offer(const PoolFacts& facts);

// Consecutive failed claims and until when nothing is bought; a claim that became a Node ends the series.
// Counts each failure once, by its time.
void count_failures(const PoolFacts& facts, api::v1alpha1::PoolStatus& status);

// Why the last claim of the series failed, to be added to a sentence; empty: none of them is still there.
std::string last_failure(const ClaimPointers& claims);

class PoolReconciler final : public kube::Reconciler {
public:
    // All must outlive this.
    PoolReconciler(Informers& informers, kube::Client& client, base::Clock& clock,
                   kube::EventRecorder& events, base::MetricsRegistry& metrics, Reservations& reservations);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    using Pointer = kube::Store<api::v1alpha1::NodeSmithPool>::Pointer;

    PoolFacts look(const api::v1alpha1::NodeSmithPool& pool) const;
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
