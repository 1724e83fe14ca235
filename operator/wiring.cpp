#include "operator/wiring.hpp"

#include <utility>

#include "controllers/certificate_approver.hpp"
#include "controllers/claim/act/seed_answers.hpp"
#include "controllers/claim/claim_reconciler.hpp"
#include "controllers/control_plane_reconciler.hpp"
#include "controllers/disruption/disruption_reconciler.hpp"
#include "controllers/garbage_collection.hpp"
#include "controllers/host_reconciler.hpp"
#include "controllers/pool_reconciler.hpp"
#include "controllers/provider_reconciler.hpp"
#include "controllers/provisioning/provisioning_reconciler.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/services/host_inventory.hpp"
#include "controllers/services/provider_instances.hpp"
#include "controllers/services/reservations.hpp"
#include "controllers/unmanaged.hpp"
#include "kube/write_fence.hpp"
#include "operator/cluster_metrics.hpp"
#include "operator/debug_state.hpp"
#include "operator/kproximate_metrics.hpp"
#include "operator/options/options.hpp"
#include "operator/status_page/page.hpp"

namespace kubenodesmith {
namespace {

// The time within which a mutating request is connected and written (its answer may take longer).
constexpr auto kTimeToWrite = std::chrono::seconds{5};
// BMCs take seconds to answer; how many are asked at a time is bounded by each provider as well.
constexpr int kConcurrentHosts = 64;

}  // namespace

// Members are in the order of their dependencies: each uses only what stands above it.
struct Wiring::Objects {
    Objects(OperatorEnvironment given, const OperatorSettings& settings)
        : environment(std::move(given)),
          leader_election(settings.leader_elect),
          client(kube::make_write_fence(std::move(environment.api_server), [this] { return may_mutate(); }),
                 clock(), metrics),
          elector(kube::make_leader_elector(client, clock(), random(), settings.election)),
          events(kube::make_event_writer(client, clock(), random(), executor(), "kubenodesmith")),
          decisions(*events, clock()),
          informers(client, clock(), random(), executor(), settings.namespaces),
          host_inventory(informers, client, clock()),
          provider_environment{executor(),
                               clock(),
                               random(),
                               metrics,
                               environment.connect_provider,
                               [this] { return may_mutate(); },
                               &host_inventory},
          instances(informers, client, provider_environment),
          reservations(informers, client, clock()),
          drainer(informers, client, clock()),
          boot_data(informers, client, clock(), random(), settings.boot_data_url),
          seeds(informers, boot_data, clock()),
          control_planes(informers, client, clock(), decisions, reservations),
          providers(informers, client, clock(), decisions, metrics, instances),
          pools(informers, client, clock(), decisions, metrics, reservations),
          provisioning(informers, client, clock(), decisions, metrics, reservations,
                       [this] { return may_mutate(); }),
          claims(informers, client, clock(), decisions, metrics, instances, reservations, drainer, boot_data,
                 machine_reports, disruption_reports, executor()),
          disruption(
              informers, client, clock(), decisions, metrics, drainer, instances, disruption_reports,
              [this] { return provisioning.world_for_removals(); }, [this] { return may_mutate(); }),
          hosts(informers, client, clock(), random(), decisions, metrics, instances),
          garbage(informers, client, clock(), decisions, metrics, instances, machine_reports),
          certificates({informers, client, clock(), random(), decisions, metrics, instances, boot_data},
                       executor()),
          unmanaged(informers, client, clock()),
          cluster_metrics(
              informers.pods, clock(), metrics, [this] { return report(); }, settings.election.lease.name) {
        if (settings.kproximate_metrics)
            kproximate_metrics =
                add_kproximate_metrics(metrics, [this] { return report(); }, informers.pods.store());
        add("controlplane", control_planes, 1);
        add("provider", providers, 4);
        add("pool", pools, 1);
        add("provisioning", provisioning, 1);
        add("claim", claims, settings.concurrent_claims);
        add("disruption", disruption, 1);
        add("host", hosts, kConcurrentHosts);
        add("garbagecollection", garbage, 4);
        add("certificate", certificates, 1);
        if (!settings.namespaces.all()) add_unmanaged();
    }

    template <class Reconciler>
    void add(std::string name, Reconciler& reconciler, int workers) {
        kube::ControllerOptions options;
        options.name = std::move(name);
        options.max_concurrent = workers;
        auto controller =
            std::make_unique<kube::Controller>(options, reconciler, executor(), clock(), metrics);
        reconciler.subscribe(controller->queue());
        controllers.push_back(std::move(controller));
    }

    void add_unmanaged() {
        add("unmanaged-provider", unmanaged.providers, 1);
        add("unmanaged-pool", unmanaged.pools, 1);
        add("unmanaged-claim", unmanaged.claims, 1);
        add("unmanaged-controlplane", unmanaged.control_planes, 1);
        add("unmanaged-host", unmanaged.hosts, 1);
    }

    asio::any_io_executor executor() { return environment.executor; }
    base::Clock& clock() { return environment.clock; }
    base::Random& random() { return environment.random; }
    // Asked before each write to a provider or to the API server.
    bool may_mutate() const { return leading && (!leader_election || elector->lease_outlives(kTimeToWrite)); }

    report::ClusterReport report() const {
        return report::report_of(informers, disruption.stays(), leading,
                                 api::Time(environment.clock.wall_now()));
    }

    OperatorEnvironment environment;
    bool leader_election;
    bool leading = false;
    base::MetricsRegistry metrics;
    kube::Client client;
    std::unique_ptr<kube::LeaderElector> elector;
    std::unique_ptr<kube::EventWriter> events;
    status_page::DecisionLog decisions;
    controllers::Informers informers;
    controllers::KubernetesHostInventory host_inventory;
    providers::ProviderEnvironment provider_environment;
    controllers::ProviderInstances instances;
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
    controllers::ClaimReconciler claims;
    controllers::DisruptionReconciler disruption;
    controllers::HostReconciler hosts;
    controllers::GarbageCollector garbage;
    controllers::CertificateApprover certificates;
    controllers::UnmanagedReconcilers unmanaged;
    ClusterMetrics cluster_metrics;
    std::unique_ptr<base::MetricsRegistry::Hook> kproximate_metrics;
    std::vector<std::unique_ptr<kube::Controller>> controllers;
};

Wiring::Wiring(OperatorEnvironment environment, const OperatorSettings& settings)
    : objects_(std::make_unique<Objects>(std::move(environment), settings)) {}
Wiring::~Wiring() = default;

kube::Client& Wiring::client() {
    return objects_->client;
}
controllers::Informers& Wiring::informers() {
    return objects_->informers;
}
kube::EventWriter& Wiring::events() {
    return *objects_->events;
}
kube::LeaderElector& Wiring::elector() {
    return *objects_->elector;
}
boost::asio::awaitable<void> Wiring::watch_certificates() {
    return objects_->certificates.watch();
}
void Wiring::elect_by(kube::LeaderElectionOptions election) {
    objects_->elector =
        kube::make_leader_elector(client(), objects_->clock(), objects_->random(), std::move(election));
}
bootstrap::SeedSource& Wiring::seeds() {
    return objects_->seeds;
}

std::vector<kube::Controller*> Wiring::controllers() {
    std::vector<kube::Controller*> all;
    for (const auto& controller : objects_->controllers) all.push_back(controller.get());
    return all;
}

void Wiring::set_leading() {
    objects_->leading = true;
}
boost::asio::awaitable<void> Wiring::end_sessions() {
    co_await objects_->hosts.end_sessions();
}
const base::MetricsRegistry& Wiring::metrics() const {
    return objects_->metrics;
}

std::string Wiring::debug_state() const {
    return kubenodesmith::debug_state(objects_->report());
}

std::string Wiring::status_page() const {
    return status_page::page(objects_->report(), objects_->decisions, version());
}

}  // namespace kubenodesmith
