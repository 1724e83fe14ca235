#include "operator/cluster_metrics.hpp"

#include <chrono>
#include <utility>

#include "api/names.hpp"
namespace kubenodesmith {

using api::v1alpha1::Mode;

ConditionMetrics::ConditionMetrics(base::MetricsRegistry& registry)
    : conditions_(registry.gauge("kubenodesmith_condition",
                                 "1 for each condition of an object, with its status and reason",
                                 {"kind", "namespace", "name", "type", "status", "reason"})),
      changed_(registry.gauge("kubenodesmith_condition_last_transition_time_seconds",
                              "When the status of the condition last changed, in seconds since 1970",
                              {"kind", "namespace", "name", "type"})),
      of_claims_(registry.gauge("kubenodesmith_claim_conditions",
                                "Claims that have the condition with this status and reason",
                                {"namespace", "pool", "type", "status", "reason"})),
      modes_(registry.gauge("kubenodesmith_control_plane_mode",
                            "1 for the mode that the control plane has, 0 for the others",
                            {"namespace", "control_plane", "mode"})) {}

void ConditionMetrics::update(const report::ClusterReport& report) {
    add(report.control_planes);
    add(report.providers);
    add(report.pools);
    add(report.hosts);
    add_claims(report);
    for (const auto& control_plane : report.control_planes) add_mode(*control_plane);
    for (auto* series : {&conditions_, &changed_, &of_claims_, &modes_}) series->publish();
}

template <class T>
void ConditionMetrics::add(const report::Pointers<T>& objects) {
    const std::string kind(T::kResource.kind);
    for (const auto& object : objects) {
        const auto& about = object->metadata;
        for (const auto& condition : object->status.conditions) {
            conditions_.set({kind, about.namespace_, about.name, condition.type,
                             std::string(api::to_string(condition.status)), condition.reason},
                            1);
            if (const auto& changed = condition.lastTransitionTime)
                changed_.set({kind, about.namespace_, about.name, condition.type},
                             std::chrono::duration<double>(changed->at.time_since_epoch()).count());
        }
    }
}

void ConditionMetrics::add_claims(const report::ClusterReport& report) {
    for (const auto& facts : report.claims)
        for (const auto& condition : facts.claim->status.conditions)
            of_claims_.add({facts.claim->metadata.namespace_, facts.claim->spec.poolRef, condition.type,
                            std::string(api::to_string(condition.status)), condition.reason},
                           1);
}

void ConditionMetrics::add_mode(const api::v1alpha1::NodeSmithControlPlane& control_plane) {
    const auto& about = control_plane.metadata;
    for (const auto mode : {Mode::Active, Mode::Observe, Mode::Paused})
        modes_.set({about.namespace_, about.name, std::string(api::name_of(mode))},
                   control_plane.spec.mode == mode ? 1 : 0);
}

ClusterMetrics::ClusterMetrics(kube::Informer<api::Pod>& pods, base::Clock& clock,
                               base::MetricsRegistry& registry, report::LookAtCluster look,
                               const std::string& lease)
    : clock_(clock),
      look_(std::move(look)),
      // client-go's name of this metric.
      leader_(
          registry.gauge("leader_election_master_status", "1 if this process leads", {"name"}).with({lease})),
      unschedulable_(
          registry.gauge("kubenodesmith_pods_unschedulable", "Pods that the scheduler found no node for")
              .with({})),
      waited_(registry
                  .histogram("kubenodesmith_pod_unschedulable_to_running_seconds",
                             "Time from seeing a pod as unschedulable until it ran, for whatever reason",
                             {1, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800, 3600})
                  .with({})),
      conditions_(registry),
      pools_(registry, pods.store()),
      host_free_(registry.gauge("kubenodesmith_provider_host_free",
                                "Room of a host that is not committed: cpu in cores, and memory in bytes",
                                {"namespace", "provider", "host", "resource"})),
      host_machines_(registry.gauge("kubenodesmith_provider_host_machines", "Managed machines on a host",
                                    {"namespace", "provider", "host"})),
      exposition_(registry.before_exposition([this] { update(); })) {
    pods.on_change([this](const api::Pod* before, const api::Pod* after) { on_pod(before, after); });
}

void ClusterMetrics::update() {
    const auto report = look_();
    leader_.set(report.leading ? 1 : 0);
    unschedulable_.set(static_cast<double>(report.unschedulable.size()));
    conditions_.update(report);
    pools_.update(report);
    for (const auto& provider : report.providers) add_hosts(*provider);
    host_free_.publish();
    host_machines_.publish();
}

void ClusterMetrics::add_hosts(const api::v1alpha1::NodeSmithProvider& provider) {
    constexpr double kBytesInMiB = 1024 * 1024;
    const auto key = api::key_of(provider);
    for (const auto& host : provider.status.hosts) {
        host_free_.set({key.namespace_, key.name, host.name, "cpu"}, static_cast<double>(host.freeCPUCores));
        host_free_.set({key.namespace_, key.name, host.name, "memory"},
                       static_cast<double>(host.freeMemoryMiB) * kBytesInMiB);
        host_machines_.set({key.namespace_, key.name, host.name}, static_cast<double>(host.machines));
    }
}

void ClusterMetrics::on_pod(const api::Pod* before, const api::Pod* after) {
    const auto& pod = after ? *after : *before;
    const auto& uid = pod.metadata.uid;
    if (after && controllers::is_unschedulable(*after)) {
        unschedulable_since_.try_emplace(uid, clock_.now());
        return;
    }
    const auto known = unschedulable_since_.find(uid);
    if (known == unschedulable_since_.end()) return;
    const bool runs = after && after->status.phase == api::PodPhase::Running;
    if (runs) waited_.observe(std::chrono::duration<double>(clock_.now() - known->second).count());
    if (runs || !after) unschedulable_since_.erase(known);
}

}  // namespace kubenodesmith
