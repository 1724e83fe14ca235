#include "test/simulation/cluster/workloads.hpp"

#include <algorithm>
#include <set>

#include "test/simulation/cluster/scheduler.hpp"

namespace simulation {
namespace {

api::OwnerReference owner_of(const std::string& kind, const std::string& name, const std::string& uid) {
    api::OwnerReference owner;
    owner.apiVersion = "apps/v1";
    owner.kind = kind;
    owner.name = name;
    owner.uid = uid;
    owner.controller = true;
    return owner;
}

bool is_owned_by(const api::Pod& pod, const std::string& kind, const std::string& name) {
    const auto* owner = api::controller_of(pod.metadata);
    return owner && owner->kind == kind && owner->name == name;
}

// Models the DefaultTolerationSeconds admission plugin.
void add_default_tolerations(api::Pod& pod) {
    for (auto key : {api::taints::kNotReady, api::taints::kUnreachable}) {
        api::Toleration toleration;
        toleration.key = key;
        toleration.operator_ = api::TolerationOperator::Exists;
        toleration.effect = api::taints::kNoExecute;
        toleration.tolerationSeconds = 300;
        pod.spec.tolerations->push_back(toleration);
    }
}

// Models the API server's defaults of a pod, which pod templates do not get: limits become requests.
void add_default_requests(api::Pod& pod) {
    for (auto& container : *pod.spec.containers)
        for (const auto& [name, amount] : container.resources.limits)
            container.resources.requests.try_emplace(name, amount);
}

bool answers(const api::Pod& pod) {
    return pod.status.phase == api::PodPhase::Running &&
           api::is_true(pod.status.conditions, api::conditions::kReady);
}

}  // namespace

api::Pod daemon_pod(const api::DaemonSet& set, const std::string& node) {
    api::Pod pod;
    pod.metadata.namespace_ = set.metadata.namespace_;
    pod.metadata.labels = set.spec.template_.metadata.labels;
    pod.spec = set.spec.template_.spec;
    for (auto key : {api::taints::kNotReady, api::taints::kUnreachable, api::taints::kUnschedulable}) {
        api::Toleration toleration;
        toleration.key = key;
        toleration.operator_ = api::TolerationOperator::Exists;
        pod.spec.tolerations->push_back(toleration);
    }
    api::NodeSelectorTerm term;
    term.matchFields.push_back({"metadata.name", api::SelectorOperator::In, {node}});
    api::NodeAffinity affinity;
    affinity.requiredDuringSchedulingIgnoredDuringExecution = api::NodeSelector{{term}};
    if (!pod.spec.affinity) pod.spec.affinity.emplace();
    pod.spec.affinity->nodeAffinity = affinity;
    add_default_requests(pod);
    return pod;
}

Workloads::Workloads(fake::ApiServer& server, ClusterSnapshot& view, Trace& trace)
    : server_(server),
      clock_(server.clock()),
      view_(view),
      trace_(trace),
      replicas_(clock_, std::chrono::milliseconds{200}, [this] { reconcile(); }),
      budgets_(clock_, std::chrono::milliseconds{50}, [this] { count_budgets(); }),
      tokens_(clock_, std::chrono::minutes{1}, [this] { sweep_tokens(); }) {
    view.subscribe<api::Pod>([this](const api::Pod* before, const api::Pod* after) {
        budgets_.poke();
        if (!after || (before && is_alive(*before) && !is_alive(*after))) replicas_.poke();
    });
    view.subscribe<api::Node>([this](const api::Node* before, const api::Node* after) {
        if (!before || !after || before->spec != after->spec ||
            before->metadata.labels != after->metadata.labels) {
            replicas_.poke();
        }
    });
    view.subscribe<api::PodDisruptionBudget>([this](const auto*, const auto*) { budgets_.poke(); });
    view.subscribe<api::DaemonSet>([this](const auto*, const auto*) { replicas_.poke(); });
    view.subscribe<api::Secret>([this](const auto* before, const auto*) {
        if (!before) tokens_.poke();
    });
}

void Workloads::apply(Deployment deployment) {
    deployment.pod.metadata.namespace_ = kNamespace;
    deployments_[deployment.name] = std::move(deployment);
    replicas_.poke();
}

void Workloads::scale(const std::string& name, std::int64_t replicas) {
    trace_.line("user", "scales ", name, " to ", replicas);
    deployments_.at(name).replicas = replicas;
    replicas_.poke();
}

void Workloads::reconcile() {
    for (const auto& [name, deployment] : deployments_) reconcile(deployment);
    for (const auto& [key, set] : view_.all<api::DaemonSet>()) {
        auto current = *set;
        reconcile_daemon_set(current);
    }
}

void Workloads::reconcile(const Deployment& deployment) {
    std::vector<std::shared_ptr<const api::Pod>> alive;
    for (const auto& [key, pod] : view_.all<api::Pod>()) {
        if (is_alive(*pod) && is_owned_by(*pod, "ReplicaSet", deployment.name)) alive.push_back(pod);
    }
    auto have = static_cast<std::int64_t>(alive.size());
    for (; have < deployment.replicas; ++have) {
        create_pod(deployment.name, deployment.pod,
                   owner_of("ReplicaSet", deployment.name, "uid-of-" + deployment.name));
    }
    // Pods without a node are deleted first, then the youngest. This is the ReplicaSet controller's ranking,
    // shortened.
    std::ranges::sort(alive, [](const auto& a, const auto& b) {
        return std::tuple(!a->spec.nodeName.empty(), b->metadata.creationTimestamp, api::key_of(*a)) <
               std::tuple(!b->spec.nodeName.empty(), a->metadata.creationTimestamp, api::key_of(*b));
    });
    for (std::size_t i = 0; have > deployment.replicas; --have, ++i)
        server_.remove<api::Pod>(api::key_of(*alive[i]));
}

void Workloads::reconcile_daemon_set(const api::DaemonSet& set) {
    std::set<std::string> served;
    std::vector<std::pair<api::ObjectKey, std::string>> pods;  // each with its node
    for (const auto& [key, pod] : view_.all<api::Pod>()) {
        if (!is_owned_by(*pod, "DaemonSet", set.metadata.name)) continue;
        const auto& terms = pod->spec.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution
                                ->nodeSelectorTerms;
        pods.emplace_back(key, terms.at(0).matchFields.at(0).values.at(0));
        if (!has_ended(*pod)) served.insert(pods.back().second);
    }
    auto nodes = view_.all<api::Node>();
    for (const auto& [key, node] : nodes) {
        auto pod = daemon_pod(set, key.name);
        if (served.contains(key.name) || node_refuses(*node, pod)) continue;
        create_pod(set.metadata.name, pod, owner_of("DaemonSet", set.metadata.name, set.metadata.uid));
    }
    for (const auto& [key, node] : pods) {
        if (!nodes.contains({"", node})) server_.remove<api::Pod>(key, 0);
    }
}

void Workloads::create_pod(const std::string& prefix, api::Pod pod, api::OwnerReference owner) {
    pod.metadata.name = prefix + "-" + std::to_string(++pods_made_);
    pod.metadata.ownerReferences = {std::move(owner)};
    pod.status = {};
    pod.status.phase = api::PodPhase::Pending;
    add_default_tolerations(pod);
    add_default_requests(pod);
    server_.put(pod);
}

void Workloads::count_budgets() {
    auto budgets = view_.all<api::PodDisruptionBudget>();
    for (const auto& [key, budget] : budgets) count(*budget);
}

// Counts as pkg/controller/disruption does. Expected pods are the replicas of their controllers. A pod that
// is being deleted or was just evicted is not healthy.
void Workloads::count(const api::PodDisruptionBudget& budget) {
    std::int64_t healthy = 0, expected = 0;
    for (const auto& [name, deployment] : deployments_) {
        if (api::matches(*budget.spec.selector, deployment.pod.metadata.labels))
            expected += deployment.replicas;
    }
    for (const auto& [key, pod] : view_.all<api::Pod>()) {
        bool counted =
            api::matches(*budget.spec.selector, pod->metadata.labels) && is_alive(*pod) && answers(*pod);
        if (counted) ++healthy;
    }
    auto desired = budget.spec.maxUnavailable ? expected - budget.spec.maxUnavailable->resolve(expected)
                                              : budget.spec.minAvailable->resolve(expected);
    auto status = budget.status;
    status.observedGeneration = budget.metadata.generation;
    status.currentHealthy = static_cast<std::int32_t>(healthy);
    status.desiredHealthy = static_cast<std::int32_t>(std::max<std::int64_t>(desired, 0));
    status.expectedPods = static_cast<std::int32_t>(expected);
    status.disruptionsAllowed =
        expected == 0 ? 0
                      : static_cast<std::int32_t>(std::max<std::int64_t>(healthy - status.desiredHealthy, 0));
    if (status == budget.status) return;
    server_.edit<api::PodDisruptionBudget>(
        api::key_of(budget), [&status](api::PodDisruptionBudget& object) { object.status = status; });
}

// Deletes expired tokens, as kube-controller-manager's token cleaner does.
void Workloads::sweep_tokens() {
    std::vector<api::ObjectKey> expired;
    bool more = false;
    for (const auto& [key, secret] : view_.all<api::Secret>()) {
        if (secret->type != "bootstrap.kubernetes.io/token") continue;
        auto expiration = secret->data.find("expiration");
        more = true;
        if (expiration == secret->data.end()) continue;
        if (api::Time::parse(expiration->second.value) <= api::Time(clock_.wall_now()))
            expired.push_back(key);
    }
    for (const auto& key : expired) server_.remove<api::Secret>(key);
    if (more) tokens_.poke();
}

}  // namespace simulation
