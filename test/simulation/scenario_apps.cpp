// Draws the workloads of a scenario, as common charts have them.
#include <algorithm>

#include "test/simulation/dice.hpp"
#include "test/simulation/scenario.hpp"

namespace simulation {
namespace {

using api::UnsatisfiableConstraintAction;

api::Container& container_of(Deployment& deployment) {
    return (*deployment.pod.spec.containers).front();
}

api::LabelSelector its_pods(const Deployment& deployment) {
    api::LabelSelector selector;
    selector.matchLabels = *deployment.pod.metadata.labels;
    return selector;
}

Deployment draw_size(Dice& dice, Variety variety, const std::string& name) {
    static const std::vector<std::string> cpus{"100m", "500m", "1", "1500m", "3"};
    static const std::vector<std::string> memories{"128Mi", "1Gi", "2500Mi", "6Gi"};
    if (variety == Variety::plain)
        return a_deployment(name, dice.between(0, 4), dice.one_of(cpus), dice.one_of(memories));
    if (dice.chance(0.08)) return a_deployment(name, dice.between(8, 20), "1", "1Gi");
    if (dice.chance(0.08)) {
        auto many = a_deployment(name, dice.between(10, 25), "50m", "64Mi");
        many.most_replicas = 25;
        return many;
    }
    // This deployment is larger than every host.
    if (dice.chance(0.05)) return a_deployment(name, 1, "40", "1Gi");
    if (dice.chance(0.05)) return a_deployment(name, 1, "1", "160Gi");
    return a_deployment(name, dice.between(0, 4), dice.one_of(cpus), dice.one_of(memories));
}

void draw_resources(Dice& dice, Deployment& deployment) {
    auto& resources = container_of(deployment).resources;
    if (dice.chance(0.4)) {
        static const std::vector<std::string> disks{"50Mi", "50Mi", "50Mi", "1Gi", "1Gi", "6Gi", "100Gi"};
        resources.requests["ephemeral-storage"] = api::Quantity::parse(dice.one_of(disks));
    }
    if (dice.chance(0.15)) std::swap(resources.requests, resources.limits);
    if (dice.chance(0.08)) container_of(deployment).ports.push_back({8080, 8080, "", "TCP"});
}

void draw_distance(Dice& dice, Variety variety, Deployment& deployment) {
    auto& pod = deployment.pod.spec;
    api::PodAffinityTerm apart;
    apart.topologyKey = api::labels::kHostname;
    apart.labelSelector = its_pods(deployment);
    if (dice.chance(0.12)) {
        pod.affinity.emplace().podAntiAffinity.emplace().requiredDuringSchedulingIgnoredDuringExecution = {
            apart};
    } else if (variety == Variety::of_users && dice.chance(0.12)) {
        pod.affinity.emplace().podAntiAffinity.emplace().preferredDuringSchedulingIgnoredDuringExecution = {
            {100, apart}};
    }
    if (variety == Variety::plain || !dice.chance(0.25)) return;
    api::TopologySpreadConstraint spread;
    spread.maxSkew = static_cast<std::int32_t>(dice.between(1, 2));
    spread.topologyKey = dice.chance(0.6) ? api::labels::kHostname : api::labels::kZone;
    if (dice.chance(0.6)) spread.whenUnsatisfiable = UnsatisfiableConstraintAction::ScheduleAnyway;
    spread.labelSelector = its_pods(deployment);
    pod.topologySpreadConstraints = {spread};
}

Deployment draw_deployment(Dice& dice, const std::string& name, const Scenario& scenario) {
    auto deployment = draw_size(dice, scenario.variety, name);
    auto& pod = deployment.pod;
    const auto& pool = dice.one_of(scenario.pools);
    if (pool.spec.machineTemplate.labels.contains("tier") && dice.chance(0.4))
        pod.spec.nodeSelector["tier"] = pool.metadata.name;
    if (dice.chance(0.5)) {
        for (const auto& taint : pool.spec.machineTemplate.taints) {
            api::Toleration toleration;
            toleration.key = taint.key;
            toleration.value = taint.value;
            toleration.effect = taint.effect;
            pod.spec.tolerations->push_back(toleration);
        }
    }
    if (scenario.variety == Variety::of_users) draw_resources(dice, deployment);
    draw_distance(dice, scenario.variety, deployment);
    if (dice.chance(0.3)) pod.metadata.annotations[kEndsAfter] = std::to_string(dice.between(2, 60));
    if (dice.chance(0.05)) pod.metadata.annotations[std::string(api::annotations::kDoNotDisrupt)] = "true";
    if (dice.chance(0.15)) pod.spec.priority = static_cast<std::int32_t>(dice.between(1, 1000));
    pod.spec.terminationGracePeriodSeconds = dice.between(1, 60);
    return deployment;
}

api::PodDisruptionBudget budget_for(Dice& dice, const Deployment& deployment) {
    api::PodDisruptionBudget budget;
    budget.metadata.name = deployment.name;
    budget.metadata.namespace_ = kNamespace;
    budget.spec.selector = its_pods(deployment);
    if (dice.chance(0.6)) {
        budget.spec.maxUnavailable = api::IntOrString(dice.between(0, 2));
    } else {
        budget.spec.minAvailable = dice.chance(0.5) ? api::IntOrString("50%") : api::IntOrString(1);
    }
    return budget;
}

api::DaemonSet draw_daemon_set(Dice& dice, Variety variety) {
    api::DaemonSet set;
    set.metadata.name = "agent";
    set.metadata.namespace_ = kNamespace;
    auto deployment = a_deployment("agent", 1, "100m", "64Mi");
    set.spec.selector = its_pods(deployment);
    auto& resources = container_of(deployment).resources;
    const bool is_plain = variety == Variety::plain;
    if (!is_plain && dice.chance(0.3))
        resources.requests["ephemeral-storage"] = api::Quantity::parse("100Mi");
    if (!is_plain && dice.chance(0.2)) std::swap(resources.requests, resources.limits);
    set.spec.template_.metadata = deployment.pod.metadata;
    set.spec.template_.spec = deployment.pod.spec;
    if (dice.chance(0.5)) {
        api::Toleration all;
        all.operator_ = api::TolerationOperator::Exists;
        set.spec.template_.spec.tolerations = {all};
    }
    return set;
}

}  // namespace

Deployment a_deployment(const std::string& name, std::int64_t replicas, const std::string& cpu,
                        const std::string& memory) {
    Deployment deployment;
    deployment.name = name;
    deployment.replicas = replicas;
    deployment.pod.metadata.labels = {{"app", name}};
    api::Container container;
    container.name = "app";
    container.resources.requests = {{"cpu", api::Quantity::parse(cpu)},
                                    {"memory", api::Quantity::parse(memory)}};
    deployment.pod.spec.containers = {container};
    return deployment;
}

void draw_apps(Dice& dice, Scenario& scenario) {
    const auto deployments = dice.between(1, 4);
    for (std::int64_t i = 0; i < deployments; ++i) {
        auto deployment = draw_deployment(dice, "app-" + std::to_string(i), scenario);
        if (dice.chance(0.5)) scenario.budgets.push_back(budget_for(dice, deployment));
        scenario.deployments.push_back(std::move(deployment));
    }
    if (dice.chance(0.5)) scenario.daemon_sets.push_back(draw_daemon_set(dice, scenario.variety));
}

}  // namespace simulation
