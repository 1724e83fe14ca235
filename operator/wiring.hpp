// All objects of the operator with their dependencies.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controllers/certificate_approver.hpp"
#include "controllers/claim/act/seed_answers.hpp"
#include "controllers/claim/claim_reconciler.hpp"
#include "controllers/control_plane_reconciler.hpp"
#include "controllers/disruption/disruption_reconciler.hpp"
#include "controllers/epoch_reconciler.hpp"
#include "controllers/garbage_collection.hpp"
#include "controllers/host_reconciler.hpp"
#include "controllers/pool_reconciler.hpp"
#include "controllers/provider_reconciler.hpp"
#include "controllers/provisioning/nominator.hpp"
#include "controllers/provisioning/provisioning_reconciler.hpp"
#include "controllers/services/claim_refusals.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/services/host_inventory.hpp"
#include "controllers/services/provider_instances.hpp"
#include "controllers/services/reservations.hpp"
#include "controllers/unmanaged.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"
#include "kube/leader_election.hpp"
#include "kube/server_clock.hpp"
#include "operator/cluster_metrics.hpp"
#include "operator/operator.hpp"
#include "operator/status_page/decision_log.hpp"
#include "report/history.hpp"

namespace kubenodesmith {

// Wiring has its members in the order of their dependencies: each uses only members above it.
struct Wiring {
    Wiring(OperatorEnvironment environment, const OperatorSettings& settings);

    asio::any_io_executor executor() { return environment.executor; }
    base::Clock& clock() { return server_clock; }
    base::Random& random() { return environment.random; }
    // Call it before the elector is used.
    void elect_by(const kube::LeaderElectionOptions& election);
    // Called before each write to a provider or to the API server.
    bool may_mutate() const;
    report::ClusterReport report() const;

    OperatorEnvironment environment;
    bool leader_election;
    // True if external mutations may start; with leader election, as long as the lease lasts.
    bool leading = false;
    base::MetricsRegistry metrics;
    kube::ServerClock server_clock;
    kube::Client client;
    std::unique_ptr<kube::LeaderElector> elector;
    std::unique_ptr<kube::EventWriter> events;
    status_page::DecisionLog decisions;
    report::History history;
    controllers::Informers informers;
    controllers::Context context;
    controllers::KubernetesHostInventory host_inventory;
    providers::ProviderEnvironment provider_environment;
    controllers::ProviderInstances instances;
    controllers::EpochReconciler epochs;
    controllers::Reservations reservations;
    controllers::Drainer drainer;
    controllers::claim::BootData boot_data;
    controllers::MachineReports machine_reports;
    controllers::DisruptionReports disruption_reports;
    controllers::claim::SeedAnswers seeds;
    controllers::ControlPlaneReconciler control_planes;
    controllers::ProviderReconciler providers;
    controllers::PoolReconciler pools;
    controllers::ProvisioningReconciler provisioning;
    controllers::Nominator nominator;
    controllers::ClaimReconciler claims;
    controllers::DisruptionReconciler disruption;
    controllers::HostReconciler hosts;
    controllers::GarbageCollector garbage;
    controllers::CertificateApprover certificates;
    controllers::UnmanagedReconcilers unmanaged;
    ClusterMetrics cluster_metrics;
    std::unique_ptr<base::MetricsRegistry::Hook> kproximate_metrics;
    // Their queues fill from the start. Their workers run only while this process leads.
    std::vector<std::unique_ptr<kube::Controller>> controllers;

private:
    using OnError = std::function<void(const kube::ObjectKey&, const kube::ApiError&)>;
    template <class Reconciler>
    void add(std::string name, Reconciler& reconciler, int workers, OnError on_error = nullptr);
    // Returns what lets an Event about the object tell that a webhook or policy blocks its reconcile. Its
    // status cannot tell if it is what cannot be written.
    template <class Store>
    OnError telling(const Store& store) {
        return [this, &store](const kube::ObjectKey& key, const kube::ApiError& error) {
            if (!controllers::is_refusal(error) && !controllers::took_long(error)) return;
            if (const auto object = store.get(key))
                decisions.warning(*object, std::string(api::reasons::kRequestRefused), error.what());
        };
    }
    void add_unmanaged();
    std::unique_ptr<kube::LeaderElector> make_elector(kube::LeaderElectionOptions election);
};

}  // namespace kubenodesmith
