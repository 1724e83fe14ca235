#include "test/simulation/cluster/constraints.hpp"

#include <algorithm>
#include <map>

namespace simulation {
namespace {

using api::UnsatisfiableConstraintAction;
using Spread = api::TopologySpreadConstraint;

const api::PodAffinity* anti_affinity(const api::Pod& pod) {
    if (!pod.spec.affinity || !pod.spec.affinity->podAntiAffinity) return nullptr;
    return &*pod.spec.affinity->podAntiAffinity;
}

bool selects(const std::optional<api::LabelSelector>& selector, const api::Pod& of, const api::Pod& other) {
    return selector && of.metadata.namespace_ == other.metadata.namespace_ &&
           api::matches(*selector, other.metadata.labels);
}

bool repels(const api::Pod& of, const api::Pod& other) {
    const auto* affinity = anti_affinity(of);
    return affinity &&
           std::ranges::any_of(affinity->requiredDuringSchedulingIgnoredDuringExecution,
                               [&](const auto& term) { return selects(term.labelSelector, of, other); });
}

bool takes_port_of(const api::Pod& a, const api::Pod& b) {
    for (const auto& mine : a.spec.containers) {
        for (const auto& port : mine.ports) {
            for (const auto& theirs : b.spec.containers) {
                const bool is_taken = std::ranges::any_of(theirs.ports, [&port](const auto& other) {
                    return port.hostPort != 0 && port.hostPort == other.hostPort &&
                           port.protocol == other.protocol;
                });
                if (is_taken) return true;
            }
        }
    }
    return false;
}

const std::string* domain_of(const api::Node& node, const Spread& spread) {
    return api::find(node.metadata.labels, spread.topologyKey);
}

std::int64_t matching_pods(const Candidate& candidate, const Spread& spread, const api::Pod& pod) {
    return std::ranges::count_if(candidate.pods, [&](const api::Pod* other) {
        return !other->metadata.deletionTimestamp && selects(spread.labelSelector, pod, *other);
    });
}

// Counts matching pods by domain, on the nodes that the pod may use.
std::map<std::string, std::int64_t> counts(const std::vector<Candidate>& all, const Spread& spread,
                                           const api::Pod& pod) {
    std::map<std::string, std::int64_t> result;
    for (const auto& candidate : all) {
        const auto* domain = domain_of(*candidate.node, spread);
        if (!domain || !is_selected(pod, candidate.node->metadata.labels, candidate.node->metadata.name))
            continue;
        result[*domain] += matching_pods(candidate, spread, pod);
    }
    return result;
}

bool would_be_skewed(const Candidate& candidate, const std::vector<Candidate>& all, const Spread& spread,
                     const api::Pod& pod) {
    const auto* domain = domain_of(*candidate.node, spread);
    if (!domain) return true;
    const auto known = counts(all, spread, pod);
    auto least = known.empty() ? 0 : known.begin()->second;
    for (const auto& [name, count] : known) least = std::min(least, count);
    if (static_cast<std::int64_t>(known.size()) < spread.minDomains.value_or(0)) least = 0;
    const auto here = known.find(*domain);
    const std::int64_t self = selects(spread.labelSelector, pod, pod) ? 1 : 0;
    return (here == known.end() ? 0 : here->second) + self - least > spread.maxSkew;
}

}  // namespace

bool is_selected(const api::Pod& pod, const api::StringMap& labels, const std::string& node_name) {
    if (!api::matches(pod.spec.nodeSelector, labels)) return false;
    if (!pod.spec.affinity || !pod.spec.affinity->nodeAffinity) return true;
    const auto& wanted = pod.spec.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    return !wanted || api::matches(*wanted, labels, node_name);
}

std::optional<std::string> pods_refuse(const Candidate& candidate, const std::vector<Candidate>& all,
                                       const api::Pod& pod) {
    for (const auto* other : candidate.pods) {
        if (takes_port_of(pod, *other)) return "node(s) didn't have free ports for the requested pod ports";
        if (repels(pod, *other) || repels(*other, pod)) return "node(s) didn't match pod anti-affinity rules";
    }
    for (const auto& spread : pod.spec.topologySpreadConstraints) {
        if (spread.whenUnsatisfiable == UnsatisfiableConstraintAction::DoNotSchedule &&
            would_be_skewed(candidate, all, spread, pod))
            return "node(s) didn't match pod topology spread constraints";
    }
    return std::nullopt;
}

std::int64_t crowd(const Candidate& candidate, const std::vector<Candidate>& all, const api::Pod& pod) {
    std::int64_t crowd = 0;
    for (const auto& spread : pod.spec.topologySpreadConstraints) {
        if (spread.whenUnsatisfiable != UnsatisfiableConstraintAction::ScheduleAnyway) continue;
        const auto* domain = domain_of(*candidate.node, spread);
        if (!domain) continue;
        const auto known = counts(all, spread, pod);
        const auto here = known.find(*domain);
        if (here != known.end()) crowd += here->second;
    }
    const auto* affinity = anti_affinity(pod);
    if (!affinity) return crowd;
    for (const auto& term : affinity->preferredDuringSchedulingIgnoredDuringExecution) {
        crowd += std::ranges::count_if(candidate.pods, [&](const api::Pod* other) {
            return selects(term.podAffinityTerm.labelSelector, pod, *other);
        });
    }
    return crowd;
}

}  // namespace simulation
