#include "test/simulation/cluster/scheduler.hpp"

#include <algorithm>
#include <set>

namespace simulation {
namespace {

constexpr auto kReactionTime = std::chrono::milliseconds{100};

bool is_pending(const api::Pod& pod) {
    return pod.spec.nodeName.empty() && is_alive(pod);
}

// Returns the average free share of CPU and memory, as the kube-scheduler's LeastAllocated scores it by
// default.
double score(const api::Node& node, const api::ResourceList& free, const api::ResourceList& wanted) {
    double score = 0;
    for (const auto* name : {"cpu", "memory"}) {
        const auto all = node.status.allocatable.find(name);
        const auto left = free.find(name);
        if (all == node.status.allocatable.end() || left == free.end()) continue;
        const auto taken = wanted.find(name);
        const auto asked = taken == wanted.end() ? api::Quantity() : taken->second;
        const auto rest = left->second.milli() - asked.milli();
        score += static_cast<double>(rest) / static_cast<double>(all->second.milli());
    }
    return score;
}

}  // namespace

std::optional<std::string> lacks(const api::ResourceList& free, const api::ResourceList& wanted) {
    for (const auto& [name, amount] : wanted) {
        if (amount.is_zero()) continue;
        const auto found = free.find(name);
        if (found == free.end() || found->second < amount)
            return name == "pods" ? "Too many pods" : "Insufficient " + name;
    }
    return std::nullopt;
}

std::optional<std::string> node_refuses(const api::Node& node, const api::Pod& pod) {
    if (!is_selected(pod, node.metadata.labels, node.metadata.name))
        return "node(s) didn't match Pod's node affinity/selector";
    for (const auto& taint : node.spec.taints) {
        if (taint.effect == api::taints::kPreferNoSchedule || tolerates(pod, taint)) continue;
        return "node(s) had untolerated taint {" + taint.key + ": " + taint.value + "}";
    }
    api::Taint cordon{
        std::string(api::taints::kUnschedulable), "", std::string(api::taints::kNoSchedule), {}};
    if (node.spec.unschedulable && !tolerates(pod, cordon)) return "node(s) were unschedulable";
    return std::nullopt;
}

bool uses_volumes(const api::Pod& pod) {
    return std::ranges::any_of(
        pod.spec.volumes, [](const api::Volume& volume) { return volume.persistentVolumeClaim.has_value(); });
}

std::optional<std::string> volumes_refuse(const ClusterSnapshot& view, const api::Node& node,
                                          const api::Pod& pod) {
    for (const auto& volume : pod.spec.volumes) {
        if (!volume.persistentVolumeClaim) continue;
        const auto& name = volume.persistentVolumeClaim->claimName;
        const auto* claim = view.find<api::PersistentVolumeClaim>({pod.metadata.namespace_, name});
        if (!claim) return "persistentvolumeclaim \"" + name + "\" not found";
        const auto* bound = view.find<api::PersistentVolume>({"", claim->spec.volumeName});
        if (!bound) return "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
        const auto& affinity = bound->spec.nodeAffinity;
        if (affinity && affinity->required &&
            !api::matches(*affinity->required, node.metadata.labels, node.metadata.name))
            return "node(s) had volume node affinity conflict";
    }
    return std::nullopt;
}

Scheduler::Scheduler(fake::ApiServer& server, ClusterSnapshot& view, Trace& trace)
    : server_(server),
      view_(view),
      trace_(trace),
      reactor_(server.clock(), kReactionTime, [this] { schedule(); }) {
    view.subscribe<api::Pod>([this](const api::Pod* before, const api::Pod* after) {
        // The scheduler reacts to a new pending pod, and to every pod that frees its place. A place for which
        // a pod was only nominated counts as well.
        bool comes = after && is_pending(*after) && !before;
        bool gives_up = before && after && is_pending(*after) && gives_room(*before, *after);
        bool frees = before && !before->spec.nodeName.empty() &&
                     (!after || (!has_ended(*before) && has_ended(*after)));
        if (comes || gives_up || frees) reactor_.poke();
    });
    view.subscribe<api::Node>([this](const api::Node* before, const api::Node* after) {
        // A hard spread no longer counts a Node that is gone.
        if (!before || !after || before->spec != after->spec ||
            before->metadata.labels != after->metadata.labels ||
            before->status.allocatable != after->status.allocatable) {
            reactor_.poke();
        }
    });
}

std::vector<Candidate> candidates(const ClusterSnapshot& view) {
    std::vector<Candidate> result;
    for (const auto& [key, node] : view.all<api::Node>()) {
        Candidate candidate{node.get(), node->status.allocatable, {}};
        for (const auto* pod : view.pods_on(node->metadata.name)) {
            if (has_ended(*pod)) continue;
            for (const auto& [name, amount] : requests_of(*pod)) candidate.free[name] -= amount;
            candidate.pods.push_back(pod);
        }
        result.push_back(std::move(candidate));
    }
    return result;
}

// A pod that the Node itself refuses, such as by a taint, keeps no room there that other pods lack.
bool Scheduler::gives_room(const api::Pod& before, const api::Pod& after) const {
    const auto& name = before.status.nominatedNodeName;
    if (name.empty() || name == after.status.nominatedNodeName) return false;
    const auto* node = view_.find<api::Node>({"", name});
    return node && !node_refuses(*node, after);
}

api::ResourceList Scheduler::held_there(const std::string& node, const api::Pod& pod) const {
    api::ResourceList held;
    for (const auto& [key, other] : view_.all<api::Pod>()) {
        const bool goes_before = other->spec.priority.value_or(0) >= pod.spec.priority.value_or(0);
        if (other->status.nominatedNodeName != node || !is_pending(*other) || !goes_before) continue;
        if (other->metadata.uid == pod.metadata.uid) continue;
        for (const auto& [name, amount] : requests_of(*other)) held[name] += amount;
    }
    return held;
}

// Only the resources of nominated pods count; their constraints on other pods do not.
std::optional<std::string> Scheduler::refuses(const Candidate& candidate, const std::vector<Candidate>& all,
                                              const api::Pod& pod) const {
    if (auto refusal = node_refuses(*candidate.node, pod)) return refusal;
    if (auto refusal = volumes_refuse(view_, *candidate.node, pod)) return refusal;
    const auto wanted = requests_of(pod);
    if (auto refusal = lacks(candidate.free, wanted)) return refusal;
    auto free = candidate.free;
    for (const auto& [name, amount] : held_there(candidate.node->metadata.name, pod)) free[name] -= amount;
    if (auto refusal = lacks(free, wanted)) return refusal;
    return pods_refuse(candidate, all, pod);
}

Candidate* Scheduler::place(const api::Pod& pod, std::vector<Candidate>& candidates,
                            std::string& why_not) const {
    const auto nominated = std::ranges::find_if(candidates, [&pod](const Candidate& candidate) {
        return candidate.node->metadata.name == pod.status.nominatedNodeName;
    });
    if (nominated != candidates.end() && !refuses(*nominated, candidates, pod)) return &*nominated;
    Candidate* best = nullptr;
    std::tuple<std::int64_t, double> best_score;
    const auto wanted = requests_of(pod);
    for (auto& candidate : candidates) {
        if (const auto refusal = refuses(candidate, candidates, pod)) {
            why_not = *refusal;
            continue;
        }
        const std::tuple its_score(-crowd(candidate, candidates, pod),
                                   score(*candidate.node, candidate.free, wanted));
        if (best && its_score <= best_score) continue;
        best = &candidate;
        best_score = its_score;
    }
    return best;
}

void Scheduler::schedule() {
    const auto now = server_.clock().now();
    if (now < not_before_) return reactor_.poke_after(not_before_ - now);
    std::vector<std::shared_ptr<const api::Pod>> pending;
    for (const auto& [key, pod] : view_.all<api::Pod>()) {
        if (is_pending(*pod)) pending.push_back(pod);
    }
    if (pending.empty()) return;
    std::ranges::sort(pending, {}, [](const auto& pod) {
        return std::tuple(-pod->spec.priority.value_or(0), pod->metadata.creationTimestamp,
                          api::key_of(*pod));
    });
    auto nodes = candidates(view_);
    bool any_bound = false, any_refused = false;
    for (const auto& pod : pending) {
        std::string why_not = "no nodes";
        auto* chosen = place(*pod, nodes, why_not);
        if (!chosen) {
            any_refused = true;
            refuse(*pod, "0/" + std::to_string(nodes.size()) + " nodes are available: " + why_not + ".");
            continue;
        }
        for (const auto& [name, amount] : requests_of(*pod)) chosen->free[name] -= amount;
        chosen->pods.push_back(pod.get());
        bind(*pod, *chosen->node);
        any_bound = true;
        if (pause_ > base::Duration{}) {
            not_before_ = now + pause_;
            return reactor_.poke_after(pause_);
        }
    }
    // A pod that was bound may have made a place for a pod that was refused before.
    if (any_bound && any_refused) reactor_.poke();
}

void Scheduler::bind(const api::Pod& pod, const api::Node& node) {
    trace_.line("scheduler", "binds ", api::key_of(pod).str(), " to ", node.metadata.name);
    server_.edit<api::Pod>(api::key_of(pod), [&](api::Pod& bound) {
        bound.spec.nodeName = node.metadata.name;
        bound.status.nominatedNodeName.clear();  // the API server does so when it binds
        api::set_condition(
            *bound.status.conditions,
            {std::string(api::conditions::kPodScheduled), api::ConditionStatus::True, "", "", {}},
            api::Time(server_.clock().wall_now()));
    });
}

void Scheduler::refuse(const api::Pod& pod, const std::string& message) {
    const auto* condition = api::find_condition(pod.status.conditions, api::conditions::kPodScheduled);
    const bool is_said = condition && condition->message == message;
    if (is_said && pod.status.nominatedNodeName.empty()) return;
    trace_.line("scheduler", "cannot place ", api::key_of(pod).str(), ": ", message);
    server_.edit<api::Pod>(api::key_of(pod), [&](api::Pod& refused) {
        refused.status.nominatedNodeName.clear();  // preemption that does not help does so
        api::set_condition(*refused.status.conditions,
                           {std::string(api::conditions::kPodScheduled),
                            api::ConditionStatus::False,
                            std::string(api::reasons::kUnschedulable),
                            message,
                            {}},
                           api::Time(server_.clock().wall_now()));
    });
}

}  // namespace simulation
