#include <algorithm>
#include <functional>
#include <set>

#include "api/names.hpp"
#include "test/unit/scheduling/checker_cluster.hpp"

namespace checker {

namespace {

using Amounts = std::map<std::string, __int128>;

void add(Amounts& sum, const api::ResourceList& list) {
    for (const auto& [name, quantity] : list) sum[name] += quantity.milli();
}

void raise(Amounts& peak, const Amounts& other) {
    for (const auto& [name, amount] : other) peak[name] = std::max(peak[name], amount);
}

bool tolerated(const api::Taint& taint, const api::Pod& pod) {
    for (const auto& each : pod.spec.tolerations) {
        const bool key = each.key.empty() || each.key == taint.key;
        const bool effect = each.effect.empty() || each.effect == taint.effect;
        const bool value = each.operator_ == api::TolerationOperator::Exists || each.value == taint.value;
        if (key && effect && value) return true;
    }
    return false;
}

bool tolerates_all(const CheckedNode& node, const api::Pod& pod) {
    return std::all_of(node.taints.begin(), node.taints.end(), [&](const api::Taint& taint) {
        return taint.effect == "PreferNoSchedule" || tolerated(taint, pod);
    });
}

bool wants_node(const CheckedNode& node, const api::Pod& pod) {
    if (!api::matches(pod.spec.nodeSelector, node.labels)) return false;
    if (!pod.spec.affinity || !pod.spec.affinity->nodeAffinity) return true;
    const auto& required = pod.spec.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    return !required || api::matches(*required, node.labels, node.name);
}

using PodTest = std::function<bool(const api::Pod&)>;

bool selects(const std::optional<api::LabelSelector>& selector, const api::Pod& pod) {
    return selector && api::matches(*selector, pod.metadata.labels);
}

bool own_values_match(const std::vector<std::string>& keys, const api::Pod& owner, const api::Pod& pod) {
    return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
        const auto* own = api::find(owner.metadata.labels, key);
        const auto* other = api::find(pod.metadata.labels, key);
        return !own || (other && *own == *other);
    });
}

bool term_matches(const CheckedCluster& cluster, const api::PodAffinityTerm& term, const api::Pod& owner,
                  const api::Pod& pod) {
    if (!selects(term.labelSelector, pod) || !own_values_match(term.matchLabelKeys, owner, pod)) return false;
    for (const auto& key : term.mismatchLabelKeys) {
        const auto* own = api::find(owner.metadata.labels, key);
        const auto* other = api::find(pod.metadata.labels, key);
        if (own && other && *own == *other) return false;
    }
    const auto& space = pod.metadata.namespace_;
    if (std::count(term.namespaces.begin(), term.namespaces.end(), space) > 0) return true;
    if (!term.namespaceSelector) return term.namespaces.empty() && space == owner.metadata.namespace_;
    if (term.namespaceSelector->matchLabels.empty() && term.namespaceSelector->matchExpressions.empty())
        return true;
    return std::any_of(cluster.snapshot.namespaces.begin(), cluster.snapshot.namespaces.end(),
                       [&](const auto& each) {
                           return each->metadata.name == space &&
                                  api::matches(*term.namespaceSelector, each->metadata.labels);
                       });
}

// Counts matching pods on all nodes whose label has the same value as on this one.
int count_in_domain(const CheckedCluster& cluster, const std::string& key, const std::string& value,
                    const PodTest& counts) {
    int sum = 0;
    for (const auto& node : cluster.nodes) {
        const auto* found = api::find(node.labels, key);
        if (found && *found == value)
            sum += static_cast<int>(std::count_if(node.pods.begin(), node.pods.end(),
                                                  [&](const api::Pod* pod) { return counts(*pod); }));
    }
    return sum;
}

std::string spread_refusal(const CheckedCluster& cluster, const CheckedNode& node, const api::Pod& pod,
                           const api::TopologySpreadConstraint& constraint) {
    const auto counts = [&](const api::Pod& other) {
        return !other.metadata.deletionTimestamp && other.metadata.namespace_ == pod.metadata.namespace_ &&
               selects(constraint.labelSelector, other) &&
               own_values_match(constraint.matchLabelKeys, pod, other);
    };
    std::map<std::string, int> domains;
    for (const auto& each : cluster.nodes) {
        const bool has_keys =
            std::all_of(pod.spec.topologySpreadConstraints.begin(), pod.spec.topologySpreadConstraints.end(),
                        [&](const auto& other) {
                            return other.whenUnsatisfiable != constraint.whenUnsatisfiable ||
                                   api::find(each.labels, other.topologyKey);
                        });
        if (!has_keys) continue;
        if (constraint.nodeAffinityPolicy == api::NodeInclusionPolicy::Honor && !wants_node(each, pod))
            continue;
        if (constraint.nodeTaintsPolicy == api::NodeInclusionPolicy::Honor && !tolerates_all(each, pod))
            continue;
        auto& count = domains[*api::find(each.labels, constraint.topologyKey)];
        for (const auto* other : each.pods) count += counts(*other) ? 1 : 0;
    }
    const auto* own = api::find(node.labels, constraint.topologyKey);
    if (!own) return "lacks topology key " + constraint.topologyKey;
    int least = std::numeric_limits<int>::max();
    for (const auto& [name, count] : domains) least = std::min(least, count);
    if (domains.size() < static_cast<std::size_t>(constraint.minDomains.value_or(0))) least = 0;
    const int skew = domains[*own] + (counts(pod) ? 1 : 0) - least;
    return skew > constraint.maxSkew ? "breaks the spread over " + constraint.topologyKey : "";
}

std::string affinity_refusal(const CheckedCluster& cluster, const CheckedNode& node, const api::Pod& pod) {
    if (!pod.spec.affinity || !pod.spec.affinity->podAffinity) return {};
    const auto& terms = pod.spec.affinity->podAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    const auto matches_all = [&](const api::Pod& other) {
        return std::all_of(terms.begin(), terms.end(),
                           [&](const auto& term) { return term_matches(cluster, term, pod, other); });
    };
    bool is_first = matches_all(pod);
    for (const auto& term : terms)
        for (const auto& each : cluster.nodes)
            if (api::find(each.labels, term.topologyKey))
                for (const auto* other : each.pods) is_first = is_first && !matches_all(*other);
    for (const auto& term : terms) {
        const auto* value = api::find(node.labels, term.topologyKey);
        if (!value) return "lacks topology key " + term.topologyKey;
        if (count_in_domain(cluster, term.topologyKey, *value, matches_all) == 0 && !is_first)
            return "is apart from what pod affinity wants over " + term.topologyKey;
    }
    return {};
}

std::string anti_affinity_refusal(const CheckedCluster& cluster, const CheckedNode& node,
                                  const api::Pod& pod) {
    const auto terms_of = [](const api::Pod& each) -> std::vector<api::PodAffinityTerm> {
        if (!each.spec.affinity || !each.spec.affinity->podAntiAffinity) return {};
        return each.spec.affinity->podAntiAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    };
    for (const auto& term : terms_of(pod)) {
        const auto* value = api::find(node.labels, term.topologyKey);
        const auto matching = [&](const api::Pod& other) { return term_matches(cluster, term, pod, other); };
        if (value && count_in_domain(cluster, term.topologyKey, *value, matching) > 0)
            return "breaks its anti-affinity over " + term.topologyKey;
    }
    for (const auto& each : cluster.nodes)
        for (const auto* other : each.pods)
            for (const auto& term : terms_of(*other)) {
                const auto* value = api::find(node.labels, term.topologyKey);
                const auto* theirs = api::find(each.labels, term.topologyKey);
                if (value && theirs && *value == *theirs && term_matches(cluster, term, *other, pod))
                    return "breaks the anti-affinity of " + other->metadata.name;
            }
    return {};
}

bool ports_clash(const api::Pod& a, const api::Pod& b) {
    for (const auto& left : a.spec.containers)
        for (const auto& right : b.spec.containers)
            for (const auto& one : left.ports)
                for (const auto& other : right.ports) {
                    if (one.hostPort == 0 || one.hostPort != other.hostPort) continue;
                    if (one.protocol != other.protocol) continue;
                    const auto any = [](const std::string& ip) { return ip.empty() || ip == "0.0.0.0"; };
                    if (any(one.hostIP) || any(other.hostIP) || one.hostIP == other.hostIP) return true;
                }
    return false;
}

std::string resource_refusal(const CheckedNode& node, const api::Pod& pod) {
    for (const auto& [name, wanted] : requests_of(pod)) {
        if (wanted == 0) continue;
        const auto free = node.free.find(name);
        if (free == node.free.end() && name == "ephemeral-storage" && !node.limits_everything) continue;
        if (free == node.free.end() || free->second < wanted) return "has too little " + name;
    }
    return {};
}

}  // namespace

Amounts requests_of(const api::Pod& pod) {
    Amounts running;
    Amounts sidecars;
    Amounts peak;
    for (const auto& container : pod.spec.containers) add(running, container.resources.requests);
    for (const auto& container : pod.spec.initContainers) {
        Amounts step = sidecars;
        add(step, container.resources.requests);
        if (container.restartPolicy == "Always") sidecars = step;
        raise(peak, step);
    }
    for (const auto& [name, amount] : sidecars) running[name] += amount;
    raise(running, peak);
    if (pod.spec.resources)
        for (const auto& [name, quantity] : pod.spec.resources->requests) running[name] = quantity.milli();
    add(running, pod.spec.overhead);
    running["pods"] = 1000;
    return running;
}

std::string refusal(const CheckedCluster& cluster, const CheckedNode& node, const api::Pod& pod) {
    if (!tolerates_all(node, pod)) return "has a taint";
    if (!wants_node(node, pod)) return "does not match node selector or affinity";
    if (auto text = resource_refusal(node, pod); !text.empty()) return text;
    for (const auto* other : node.pods)
        if (ports_clash(*other, pod)) return "has the host port in use";
    if (auto text = volume_refusal(cluster, node, pod); !text.empty()) return text;
    if (auto text = affinity_refusal(cluster, node, pod); !text.empty()) return text;
    if (auto text = anti_affinity_refusal(cluster, node, pod); !text.empty()) return text;
    for (const auto& constraint : pod.spec.topologySpreadConstraints) {
        if (constraint.whenUnsatisfiable != api::UnsatisfiableConstraintAction::DoNotSchedule) continue;
        if (auto text = spread_refusal(cluster, node, pod, constraint); !text.empty()) return text;
    }
    return {};
}

}  // namespace checker
