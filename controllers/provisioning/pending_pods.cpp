#include "controllers/provisioning/pending_pods.hpp"

#include "controllers/provisioning/pod_groups.hpp"
#include "controllers/provisioning/predictions.hpp"
#include "scheduling/nodes/daemon_pods.hpp"

namespace controllers::provisioning {

using scheduling::is_of_daemon_set;

namespace {

// Reports whether the scheduler is preempting other pods for it.
bool is_being_made_room_for(const api::Pod& pod, const Nodes& nodes, const DemandRules& rules) {
    const auto& nominated = pod.status.nominatedNodeName;
    return !nominated.empty() && nodes.contains({"", nominated}) &&
           !rules.void_nominations.contains(nominated) &&
           !rules.unfounded_nominations.contains(pod.metadata.uid) &&
           !rules.told_of_their_machine.contains(pod.metadata.uid);
}

bool is_nominated(const api::Pod& pod, const Nodes& nodes, const DemandRules& rules) {
    return !is_of_daemon_set(pod) && is_being_made_room_for(pod, nodes, rules);
}

bool is_nobodys_demand(const api::Pod& pod, const Nodes& nodes, const DemandRules& rules) {
    return is_of_daemon_set(pod) || is_being_made_room_for(pod, nodes, rules);
}

bool is_expendable(const api::Pod& pod, const DemandRules& rules) {
    return pod.spec.priority.value_or(0) < rules.expendable_below;
}

// KindProbe is the pod that shows whether a machine helps its kind.
struct KindProbe {
    std::string pod;
    std::string group;  // its PodGroup, see pod_group_of()
};

class Selection {
public:
    Selection(const std::map<std::string, int>& launches, const Pools& pools, api::Time now,
              const DemandRules& rules)
        : launches_(launches), pools_(pools), now_(now), rules_(rules) {
        for (const auto& [key, pool] : pools)
            for (const auto& entry : pool->status.mispredictions)
                if (!entry.kind.empty()) doubtful_.insert(entry.kind);
        for (const auto& [kind, history] : rules.kinds) {
            if (history.of_use > 0) doubtful_.erase(kind);
            if (history.of_use == 0 && history.in_vain >= kMostLaunchesPerHour) doubtful_.insert(kind);
        }
    }

    // Returns why nothing is created for the pod; nullopt: it is demand.
    std::optional<HeldBack> judge(const PodPointer& pod) {
        const auto& uid = pod->metadata.uid;
        if (is_expendable(*pod, rules_))
            return HeldBack{pod,
                            "its priority " + std::to_string(pod->spec.priority.value_or(0)) +
                                " is below ignorePodsBelowPriority (" +
                                std::to_string(rules_.expendable_below) + "), so nothing is created for it",
                            std::nullopt};
        const auto kind = doubtful_kind(*pod);
        const auto pod_history = history_of(uid, kind, pools_);
        if (pod_history.retry_at && now_ < *pod_history.retry_at) return paused(pod, pod_history);
        const auto launched = launches_.find(uid);
        if (launched != launches_.end() && launched->second >= kMostLaunchesPerHour)
            return exhausted(
                pod, std::to_string(kMostLaunchesPerHour) + " machines were created for it within an hour");
        return kind.empty() ? std::nullopt : judge_kind(pod, kind, pod_history);
    }

private:
    // Returns an empty kind if nothing is known against it, which is the usual and cheap case.
    std::string doubtful_kind(const api::Pod& pod) const {
        if (doubtful_.empty() || !rules_.kind_of) return {};
        auto kind = rules_.kind_of(pod);
        return doubtful_.contains(kind) ? kind : std::string();
    }

    HeldBack paused(const PodPointer& pod, const PodHistory& pod_history) const {
        const auto for_whom =
            pod_history.is_of_kind ? "pod " + pod_history.pod + ", which is like it," : "it";
        return {pod,
                "a node created for " + for_whom +
                    " is in service, but the scheduler did not use it; no machine is created for the pod "
                    "before " +
                    pod_history.retry_at->str(),
                pod_history.retry_at};
    }

    HeldBack exhausted(const PodPointer& pod, std::string message) const {
        return {pod, std::move(message), api::Time(now_.at + std::chrono::minutes{1})};
    }

    // After a launch without effect, the first pod of the kind shows whether the next one helps.
    std::optional<HeldBack> judge_kind(const PodPointer& pod, const std::string& kind,
                                       const PodHistory& pod_history) {
        const auto history = rules_.kinds.find(kind);
        if (history != rules_.kinds.end() && history->second.in_vain >= kMostLaunchesPerHour)
            return exhausted(pod, "machines were created for pods like it " +
                                      std::to_string(history->second.in_vain) +
                                      " times within an hour and did not help them");
        if (pod_history.wrong == 0) return std::nullopt;
        // A PodGroup starts as a whole, so all of its pods are tried together.
        const auto group = pod_group_of(*pod);
        const auto [probe, is_first] = probes_.try_emplace(kind, KindProbe{api::key_of(*pod).str(), group});
        if (is_first || (!group.empty() && group == probe->second.group)) return std::nullopt;
        return HeldBack{pod,
                        "machines created for pods like it did not help them; waiting to see whether a new "
                        "machine helps pod " +
                            probe->second.pod,
                        std::nullopt};
    }

    const std::map<std::string, int>& launches_;
    const Pools& pools_;
    api::Time now_;
    const DemandRules& rules_;
    std::set<std::string> doubtful_;           // kinds whose launched machines did not help
    std::map<std::string, KindProbe> probes_;  // by kind
};

}  // namespace

PendingPods select_demand(const PodPointers& unschedulable, const std::map<std::string, int>& launches,
                          const Pools& pools, const Nodes& nodes, api::Time now, const DemandRules& rules) {
    PendingPods demand;
    Selection selection(launches, pools, now, rules);
    for (const auto& pod : unschedulable) {
        demand.waiting.insert(pod->metadata.uid);
        if (is_of_daemon_set(*pod)) continue;
        if (is_being_made_room_for(*pod, nodes, rules))
            demand.nominated.push_back(pod);
        else if (auto held = selection.judge(pod))
            demand.held_back.push_back(std::move(*held));
        else
            demand.pods.push_back(pod);
    }
    return demand;
}

PodPointers nominated_pods(PodPointers unschedulable, const Nodes& nodes, const DemandRules& rules) {
    std::erase_if(unschedulable, [&](const auto& pod) { return !is_nominated(*pod, nodes, rules); });
    return unschedulable;
}

PodPointers waiting_daemon_pods(const Informers& informers) {
    auto pods = unschedulable_pods(informers);
    std::erase_if(pods, [](const auto& pod) { return !is_of_daemon_set(*pod); });
    return pods;
}

PodPointers pods_that_keep_nodes(const PodPointers& unschedulable, const Pools& pools, const Nodes& nodes,
                                 const DemandRules& rules) {
    PodPointers result;
    for (const auto& pod : unschedulable)
        if (!is_nobodys_demand(*pod, nodes, rules) && !is_expendable(*pod, rules) &&
            history_of(pod->metadata.uid, {}, pools).wrong == 0)
            result.push_back(pod);
    return result;
}

}  // namespace controllers::provisioning
