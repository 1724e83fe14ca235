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

Amounts amounts_of(const LearnedDaemon& learned) {
    Amounts amounts;
    amounts.base[kCpu] = std::min(learned.cpu_millicores, kUnbounded);
    amounts.base[kMemory] = std::min(learned.memory_mib * kMiB, kUnbounded);
    return amounts;
}

}  // namespace

bool is_of_daemon_set(const api::Pod& pod) {
    const auto* owner = api::controller_of(pod.metadata);
    return owner && owner->kind == api::DaemonSet::kResource.kind;
}

std::string_view template_generation(const api::DaemonSet& daemon_set) {
    const auto* number = api::find(daemon_set.metadata.annotations, api::annotations::kTemplateGeneration);
    return number ? std::string_view(*number) : std::string_view();
}

bool is_of_present_template(const api::DaemonSet& daemon_set, const api::Pod& pod) {
    if (!is_of_daemon_set(pod) || api::controller_of(pod.metadata)->uid != daemon_set.metadata.uid ||
        pod.metadata.namespace_ != daemon_set.metadata.namespace_)
        return false;
    const auto wanted = template_generation(daemon_set);
    const auto* found = api::find(pod.metadata.labels, kGeneration);
    return wanted.empty() || !found || wanted == *found;
}

std::string_view revision_of(const api::Pod& pod) {
    const auto* revision = api::find(pod.metadata.labels, kRevision);
    return revision ? std::string_view(*revision) : std::string_view();
}

bool is_younger(const api::Pod& pod, const api::Pod& other) {
    const std::string_view name = pod.metadata.name;
    const std::string_view name_of_other = other.metadata.name;
    return std::pair(creation_of(pod), name) > std::pair(creation_of(other), name_of_other);
}

std::string_view node_aimed_at(const api::Pod& pod) {
    const auto& affinity = pod.spec.affinity;
    if (!affinity || !affinity->nodeAffinity) return {};
    const auto& required = affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    if (!required) return {};
    for (const auto& term : required->nodeSelectorTerms)
        for (const auto& field : term.matchFields)
            if (field.key == "metadata.name" && field.values.size() == 1) return field.values.front();
    return {};
}

DaemonPods::DaemonPods(const Snapshot& snapshot, Rows& rows, ResourceNames& names) {
    if (snapshot.daemon_sets.empty()) return;
    for (std::size_t pool = 0; pool < snapshot.pools.size(); ++pool)
        for (const auto& each : snapshot.pools[pool].learned_daemons)
            learned_[each.uid].emplace_back(pool, &each);
    std::unordered_map<std::string_view, std::size_t> pools;  // by name of the Node
    for (const auto& node : snapshot.nodes) {
        if (!node.pool) continue;
        pools.emplace(node.node->metadata.name, *node.pool);
        for (const auto& each : rows.digest(node).daemon_pods)
            seen_[each.uid].push_back({each.pod, *node.pool, each.requests});
    }
    for (const auto& pod : snapshot.waiting_daemon_pods) {
        const auto* owner = api::controller_of(pod->metadata);
        const auto pool = pools.find(node_aimed_at(*pod));
        if (owner && pool != pools.end())
            seen_[owner->uid].push_back({pod.get(), pool->second, requests_of(pod->spec, names)});
    }
}

std::map<std::size_t, Amounts> DaemonPods::asked_for(const api::DaemonSet& daemon_set) const {
    auto asked = seen_of(daemon_set);
    const auto found = learned_.find(daemon_set.metadata.uid);
    if (found == learned_.end()) return asked;
    for (const auto& [pool, learned] : found->second)
        if (learned->template_generation == template_generation(daemon_set))
            asked.try_emplace(pool, amounts_of(*learned));
    return asked;
}

std::map<std::size_t, Amounts> DaemonPods::seen_of(const api::DaemonSet& daemon_set) const {
    std::map<std::size_t, Amounts> asked;
    const auto found = seen_.find(daemon_set.metadata.uid);
    if (found == seen_.end()) return asked;
    std::vector<const Seen*> pods;
    for (const auto& each : found->second)
        if (is_of_present_template(daemon_set, *each.pod)) pods.push_back(&each);
    if (pods.empty()) return asked;
    std::ranges::sort(pods, [](const Seen* a, const Seen* b) { return is_younger(*a->pod, *b->pod); });
    const auto revision = revision_of(*pods.front()->pod);
    std::map<std::size_t, api::Time> newest;
    for (const auto* each : pods) {
        if (revision_of(*each->pod) != revision) continue;
        const auto [since, is_first] = newest.try_emplace(each->pool, creation_of(*each->pod));
        if (is_first)
            asked.emplace(each->pool, each->requests);
        else if (since->second == creation_of(*each->pod))
            asked[each->pool] = at_least(asked[each->pool], each->requests);
    }
    return asked;
}

}  // namespace scheduling
