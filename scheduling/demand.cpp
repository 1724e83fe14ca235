#include "scheduling/demand.hpp"

#include <algorithm>
#include <tuple>

#include "scheduling/nodes/node_digest.hpp"

namespace scheduling {

namespace {

// Computes FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 14695981039346656037u) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash;
}

std::uint64_t tie_of(const api::ObjectMeta& metadata) {
    if (!metadata.uid.empty()) return hash_of(metadata.uid);
    return hash_of(metadata.name, hash_of(metadata.namespace_));
}

double share(std::int64_t wanted, std::int64_t largest) {
    return largest > 0 ? static_cast<double>(wanted) / static_cast<double>(largest) : 0;
}

// Ranks pods that may use few nodes only: they must choose before others have filled these.
std::int32_t apartness(const api::PodSpec& pod) {
    const auto& affinity = pod.affinity;
    if (affinity && affinity->podAntiAffinity &&
        !affinity->podAntiAffinity->requiredDuringSchedulingIgnoredDuringExecution.empty())
        return 3;
    const auto& spreads = *pod.topologySpreadConstraints;
    const bool is_required = std::ranges::any_of(spreads, [](const auto& constraint) {
        return constraint.whenUnsatisfiable == api::UnsatisfiableConstraintAction::DoNotSchedule;
    });
    if (is_required) return 2;
    return spreads.empty() ? 0 : 1;
}

// `as` is the pod with the requests that it has where it is placed.
Demand demand_of(const std::shared_ptr<const api::Pod>& shared, const std::shared_ptr<const api::Pod>& as,
                 PodClasses& classes, const Amounts& largest) {
    const auto& pod = *shared;
    Demand demand;
    demand.pod = &pod;
    demand.pod_class = classes.class_of(as);
    demand.priority = pod.spec.priority.value_or(0);
    demand.apartness = apartness(pod.spec);
    const auto& requests = classes.requests(classes.at(demand.pod_class));
    demand.size = std::max(share(requests.base[kCpu], largest.base[kCpu]),
                           share(requests.base[kMemory], largest.base[kMemory]));
    if (pod.metadata.creationTimestamp)
        demand.created = pod.metadata.creationTimestamp->at.time_since_epoch().count();
    demand.tie = tie_of(pod.metadata);
    return demand;
}

// Reports whether the pod counts as demand. A controller replaces a terminating pod immediately under another
// name, and that one is demand already. StatefulSets wait until the name is free.
bool comes_back(const api::Pod& pod) {
    if (is_finished(pod) || is_bound_to_node(pod)) return false;
    if (!pod.metadata.deletionTimestamp) return true;
    const auto* owner = api::controller_of(pod.metadata);
    return owner && owner->kind == "StatefulSet";
}

bool is_before(const Demand& a, const Demand& b) {
    if (a.comes_last != b.comes_last) return b.comes_last;
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.apartness != b.apartness) return a.apartness > b.apartness;
    if (a.size != b.size) return a.size > b.size;
    if (a.created != b.created) return a.created < b.created;
    if (a.tie != b.tie) return a.tie < b.tie;
    const auto& left = a.pod->metadata;
    const auto& right = b.pod->metadata;
    return std::tie(left.namespace_, left.name) < std::tie(right.namespace_, right.name);
}

}  // namespace

std::vector<Demand> ordered_demand(const Snapshot& snapshot, PodClasses& classes, const Amounts& largest,
                                   bool displaced_last) {
    std::vector<Demand> demand;
    demand.reserve(snapshot.pods.size());
    for (const auto& pod : snapshot.pods) demand.push_back(demand_of(pod, pod, classes, largest));
    for (const auto& node : snapshot.nodes) {
        if (node.availability != Availability::leaving) continue;
        for (const auto& pod : node.pods) {
            if (snapshot.tied_pods.contains(pod->metadata.uid)) continue;
            if (!comes_back(*pod) || pod->spec.priority.value_or(0) < snapshot.expendable_below) continue;
            const auto larger = snapshot.returning.find(pod->metadata.uid);
            const auto& as = larger == snapshot.returning.end() ? pod : larger->second;
            demand.push_back(demand_of(pod, as, classes, largest));
            demand.back().is_displaced = true;
            demand.back().comes_last = displaced_last;
        }
    }
    std::ranges::sort(demand, is_before);
    return demand;
}

}  // namespace scheduling
