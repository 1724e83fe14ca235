// Builds pods and their budgets for tests: a_pod("web").requesting("1", "256Mi").on("node-1").
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core.hpp"

namespace builders {

// PodBuilder builds a pod in the namespace default.
struct PodBuilder {
    api::Pod pod;

    PodBuilder() { pod.metadata.namespace_ = "default"; }
    // Makes a pod as the kube-scheduler sees it.
    explicit PodBuilder(const std::string& name, const std::string& cpu = "1",
                        const std::string& memory = "1Gi")
        : PodBuilder() {
        pod.metadata.name = name;
        pod.metadata.uid = "uid-" + name;
        requesting(cpu, memory);
    }
    PodBuilder& requests(const std::map<std::string, std::string>& amounts) {
        auto& container = first_container();
        for (const auto& [name, amount] : amounts)
            container.resources.requests[name] = api::Quantity::parse(amount);
        return *this;
    }
    PodBuilder& requesting(const std::string& cpu, const std::string& memory) {
        return requests({{"cpu", cpu}, {"memory", memory}});
    }
    PodBuilder& host_port(std::int32_t port) {
        first_container().ports.push_back({port, port, "", "TCP"});
        return *this;
    }
    // Binds the pod to the node, where it runs.
    PodBuilder& on(const std::string& node) {
        pod.spec.nodeName = node;
        pod.status.phase = api::PodPhase::Running;
        return *this;
    }
    // Says that the kube-scheduler found no place for the pod.
    PodBuilder& unschedulable(api::Time since) {
        pod.status.phase = api::PodPhase::Pending;
        api::set_condition(*pod.status.conditions,
                           {"PodScheduled", api::ConditionStatus::False, "Unschedulable", "", std::nullopt},
                           since);
        return *this;
    }
    PodBuilder& ending(api::Time when) {
        pod.metadata.deletionTimestamp = when;
        return *this;
    }
    PodBuilder& grace_period(std::int64_t seconds) {
        pod.spec.terminationGracePeriodSeconds = seconds;
        return *this;
    }
    PodBuilder& label(const std::string& key, const std::string& value) {
        pod.metadata.labels[key] = value;
        return *this;
    }
    PodBuilder& annotate(const std::string& key, const std::string& value) {
        pod.metadata.annotations[key] = value;
        return *this;
    }
    PodBuilder& select(const std::string& key, const std::string& value) {
        pod.spec.nodeSelector[key] = value;
        return *this;
    }
    PodBuilder& priority(std::int32_t value) {
        pod.spec.priority = value;
        return *this;
    }
    PodBuilder& tolerate(const std::string& key) {
        auto& toleration = pod.spec.tolerations->emplace_back();
        toleration.key = key;
        toleration.operator_ = api::TolerationOperator::Exists;
        return *this;
    }
    // Adds one more alternative: each requirement of `term` must hold.
    PodBuilder& require(std::vector<api::SelectorRequirement> term) {
        auto& node = affinity().nodeAffinity;
        if (!node) node.emplace();
        auto& required = node->requiredDuringSchedulingIgnoredDuringExecution;
        if (!required) required.emplace();
        required->nodeSelectorTerms.emplace_back().matchExpressions = std::move(term);
        return *this;
    }
    // Spreads the pod evenly with the pods that have its present labels.
    PodBuilder& spread_over(std::string_view topology_key) {
        auto& spread = pod.spec.topologySpreadConstraints->emplace_back();
        spread.maxSkew = 1;
        spread.topologyKey = topology_key;
        spread.whenUnsatisfiable = api::UnsatisfiableConstraintAction::DoNotSchedule;
        spread.labelSelector.emplace().matchLabels = pod.metadata.labels;
        return *this;
    }
    PodBuilder& mount(const std::string& volume_claim) {
        pod.spec.volumes->emplace_back().persistentVolumeClaim.emplace().claimName = volume_claim;
        return *this;
    }
    PodBuilder& owner(const std::string& kind, const std::string& uid = "owner") {
        auto& reference = pod.metadata.ownerReferences->emplace_back();
        reference.kind = kind;
        reference.name = uid;
        reference.uid = uid;
        reference.controller = true;
        return *this;
    }
    api::Affinity& affinity() {
        if (!pod.spec.affinity) pod.spec.affinity.emplace();
        return *pod.spec.affinity;
    }
    operator const api::Pod&() const { return pod; }
    operator std::shared_ptr<const api::Pod>() const { return std::make_shared<api::Pod>(pod); }

private:
    api::Container& first_container() {
        if (pod.spec.containers->empty()) pod.spec.containers->emplace_back().name = "main";
        return pod.spec.containers->front();
    }
};

// Returns a pod without containers and without a UID.
inline PodBuilder a_pod(const std::string& name) {
    PodBuilder made;
    made.pod.metadata.name = name;
    return made;
}

// Returns a budget for all pods of the namespace default, at the first generation that the disruption
// controller saw.
inline api::PodDisruptionBudget a_budget(const std::string& name, std::int32_t disruptions_allowed = 0) {
    api::PodDisruptionBudget budget;
    budget.metadata.name = name;
    budget.metadata.namespace_ = "default";
    budget.spec.selector.emplace();
    budget.status.observedGeneration = 1;
    budget.status.disruptionsAllowed = disruptions_allowed;
    return budget;
}

}  // namespace builders
