#include "operator/wiring.hpp"

#include <utility>

#include "kube/write_fence.hpp"
#include "operator/kproximate_metrics.hpp"

namespace kubenodesmith {
namespace {

// Limit for connecting and writing a mutating request; its answer may take longer.
constexpr auto kTimeToWrite = std::chrono::seconds{5};
// BMCs take seconds to answer. Each provider also limits its concurrent calls.
constexpr int kConcurrentHosts = 64;
// Each provider has a separate key, so those that hang leave workers for the others.
constexpr int kConcurrentProviders = 64;
// A pool whose writes hang leaves workers for the others.
constexpr int kConcurrentPools = 16;
// Requests for certificates are decided one at a time in each namespace.
constexpr int kConcurrentNamespaces = 16;

}  // namespace

template <class Reconciler>
void Wiring::add(std::string name, Reconciler& reconciler, int workers, OnError on_error) {
    kube::ControllerOptions options;
    options.name = std::move(name);
    options.max_concurrent = workers;
    options.on_error = std::move(on_error);
    auto controller = std::make_unique<kube::Controller>(options, reconciler, executor(), clock(), metrics);
    reconciler.subscribe(controller->queue());
    controllers.push_back(std::move(controller));
}

void Wiring::add_unmanaged() {
    add("unmanaged-provider", unmanaged.providers, 1);
    add("unmanaged-pool", unmanaged.pools, 1);
    add("unmanaged-claim", unmanaged.claims, 1);
    add("unmanaged-controlplane", unmanaged.control_planes, 1);
    add("unmanaged-host", unmanaged.hosts, 1);
}

Wiring::Wiring(OperatorEnvironment given, const OperatorSettings& settings)
    : environment(std::move(given)),
      leader_election(settings.leader_elect),
      server_clock(environment.clock, metrics),
      client(kube::make_write_fence(server_clock.listen(std::move(environment.api_server)),
                                    [this] { return may_mutate(); }),
             clock(), metrics),
      elector(make_elector(settings.election)),
      events(kube::make_event_writer(client, clock(), random(), executor(), "kubenodesmith")),
      decisions(*events, clock()),
      informers(client, clock(), random(), executor(), settings.namespaces),
      context{informers, client, clock(), decisions, metrics},
      host_inventory(informers, client, clock(), decisions),
      provider_environment{executor(),
                           clock(),
                           random(),
                           metrics,
                           environment.connect_provider,
                           [this] { return may_mutate(); },
                           &host_inventory},
      instances(informers, client, provider_environment, providers::make_provider, settings.credentials_role),
      epochs(context, instances, [this] { return elector->epochs(); }),
      reservations(informers, client, clock()),
      drainer(informers, client, clock()),
      boot_data(informers, client, clock(), random(), settings.boot_data_url),
      seeds(informers, boot_data, clock(), executor()),
      control_planes(context, reservations),
      providers(context, instances),
      pools(context, reservations),
      provisioning(context, reservations, [this] { return may_mutate(); }),
      nominator(context),
      claims(context, instances, reservations, drainer, boot_data, machine_reports, disruption_reports,
             executor()),
      disruption(
          context, drainer, instances, disruption_reports,
          [this] { return provisioning.world_for_removals(); }, [this] { return may_mutate(); }),
      hosts(informers, client, clock(), random(), decisions, metrics, instances),
      garbage(context, instances, machine_reports),
      certificates({informers, client, clock(), random(), decisions, metrics, boot_data, machine_reports},
                   executor()),
      unmanaged(informers, client, clock()),
      cluster_metrics(
          informers.pods, clock(), metrics, [this] { return report(); }, settings.election.lease.name) {
    if (settings.kproximate_metrics)
        kproximate_metrics =
            add_kproximate_metrics(metrics, [this] { return report(); }, informers.pods.store());
    // Without a Lease nothing distinguishes this process from a copy.
    if (leader_election) {
        provider_environment.why_not_destroy = [this](const std::string& uid) {
            return epochs.why_not_destroy(uid);
        };
        add("epoch", epochs, kConcurrentProviders);
    }
    add("controlplane", control_planes, 1, telling(informers.control_planes.store()));
    add("provider", providers, kConcurrentProviders, telling(informers.providers.store()));
    add("pool", pools, kConcurrentPools, telling(informers.pools.store()));
    add("provisioning", provisioning, 1);
    add("nomination", nominator, 16);
    claims.share_workers(static_cast<std::size_t>(settings.concurrent_claims));
    add("claim", claims, settings.concurrent_claims, telling(informers.claims.store()));
    add("disruption", disruption, 1);
    add("stoppedmachines", disruption.stopped_machines(), kConcurrentProviders);
    add("host", hosts, kConcurrentHosts, telling(informers.hosts.store()));
    add("garbagecollection", garbage, kConcurrentProviders);
    add("certificate", certificates, kConcurrentNamespaces);
    add("clusteraddresses", certificates.cluster_addresses(), 1);
    if (!settings.namespaces.all()) add_unmanaged();
}

void Wiring::elect_by(const kube::LeaderElectionOptions& election) {
    elector = make_elector(election);
}

std::unique_ptr<kube::LeaderElector> Wiring::make_elector(kube::LeaderElectionOptions election) {
    election.on_restore = [this] { informers.list_anew(); };
    return kube::make_leader_elector(client, clock(), random(), std::move(election));
}

bool Wiring::may_mutate() const {
    return leading && (!leader_election || elector->lease_outlives(kTimeToWrite));
}

report::ClusterReport Wiring::report() const {
    return report::report_of(informers, disruption.stays(), leading, api::Time(server_clock.wall_now()));
}

}  // namespace kubenodesmith
