#include "scheduling/nodes/daemon_pods.hpp"

#include <algorithm>
#include <utility>

#include "api/names.hpp"

namespace scheduling {

namespace {

// These are labels that the DaemonSet controller gives its pods.
constexpr std::string_view kRevision = "controller-revision-hash";
constexpr std::string_view kGeneration = "pod-template-generation";

api::Time creation_of(const api::Pod& pod) {
    return pod.metadata.creationTimestamp.value_or(api::Time());
}

// Returns false only if both sides state the number of the template, and the numbers differ.
bool is_of_generation(const api::DaemonSet& daemon_set, const api::Pod& pod) {
    const auto* wanted = api::find(daemon_set.metadata.annotations, api::annotations::kTemplateGeneration);
    const auto* found = api::find(pod.metadata.labels, kGeneration);
    return !wanted || !found || *wanted == *found;
}

std::string_view revision_label(const api::Pod& pod) {
    const auto* revision = api::find(pod.metadata.labels, kRevision);
    return revision ? std::string_view(*revision) : std::string_view();
}

// Returns the node that the DaemonSet controller made the pod for; empty: not stated.
std::string_view aimed_at(const api::Pod& pod) {
    const auto& affinity = pod.spec.affinity;
    if (!affinity || !affinity->nodeAffinity) return {};
    const auto& required = affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    if (!required) return {};
    for (const auto& term : required->nodeSelectorTerms)
        for (const auto& field : term.matchFields)
            if (field.key == "metadata.name" && field.values.size() == 1) return field.values.front();
    return {};
}

}  // namespace

DaemonPods::DaemonPods(const Snapshot& snapshot, Rows& rows, ResourceNames& names) {
    if (snapshot.daemon_sets.empty()) return;
    std::unordered_map<std::string_view, std::size_t> pools;  // by name of the Node
    for (const auto& node : snapshot.nodes) {
        if (!node.pool) continue;
        pools.emplace(node.node->metadata.name, *node.pool);
        for (const auto& each : rows.digest(node).daemon_pods)
            seen_[each.uid].push_back({each.pod, *node.pool, each.requests});
    }
    for (const auto& pod : snapshot.waiting_daemon_pods) {
        const auto* owner = api::controller_of(pod->metadata);
        const auto pool = pools.find(aimed_at(*pod));
        if (owner && pool != pools.end())
            seen_[owner->uid].push_back({pod.get(), pool->second, requests_of(pod->spec, names)});
    }
}

std::map<std::size_t, Amounts> DaemonPods::asked_for(const api::DaemonSet& daemon_set) const {
    std::map<std::size_t, Amounts> asked;
    const auto found = seen_.find(daemon_set.metadata.uid);
    if (found == seen_.end()) return asked;
    std::vector<const Seen*> pods;
    for (const auto& each : found->second)
        if (is_of_generation(daemon_set, *each.pod)) pods.push_back(&each);
    if (pods.empty()) return asked;
    std::ranges::sort(pods, std::ranges::greater(), [](const Seen* each) {
        return std::pair(creation_of(*each->pod), std::string_view(each->pod->metadata.name));
    });
    const auto revision = revision_label(*pods.front()->pod);
    std::map<std::size_t, api::Time> newest;
    for (const auto* each : pods) {
        if (revision_label(*each->pod) != revision) continue;
        const auto [since, is_first] = newest.try_emplace(each->pool, creation_of(*each->pod));
        if (is_first)
            asked.emplace(each->pool, each->requests);
        else if (since->second == creation_of(*each->pod))
            asked[each->pool] = at_least(asked[each->pool], each->requests);
    }
    return asked;
}

}  // namespace scheduling
