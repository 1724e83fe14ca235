#include "scheduling/topology_explanation.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "scheduling/selector_text.hpp"
#include "scheduling/topology/pod_matcher.hpp"
#include "scheduling/topology/rule_reader.hpp"
#include "scheduling/volume_explanation.hpp"

namespace scheduling {

namespace {

// Erases the places where a pod on a new machine of the pool would violate one of the rules.
void retain(BitSet& places, const PodPlacer& placer, const Rules& rules, std::size_t pool) {
    const auto& topology = placer.topology();
    std::vector<std::int32_t> limits;
    topology.limits(rules, Basis::existing, limits);
    for (auto place = places.next(0); place != kNone; place = places.next(place + 1)) {
        const auto row = placer.template_row(pool, place);
        if (!topology.holds_in_row(rules, limits, row) || !topology.holds_in_new_slot(rules, limits, row))
            places.erase(place);
    }
}

// Returns, for example, "pods with label app=db, by topology.kubernetes.io/zone".
std::string words_of_terms(const std::vector<api::PodAffinityTerm>& terms) {
    std::vector<std::string> texts;
    for (const auto& term : terms) {
        const auto selector = term.labelSelector ? words_of(*term.labelSelector) : std::string();
        texts.push_back((selector.empty() ? "pods" : "pods with " + selector) + ", by " + term.topologyKey);
    }
    return base::joined(texts, "; ");
}

const std::vector<api::PodAffinityTerm>& required_terms(const std::optional<api::PodAffinity>& affinity) {
    static const std::vector<api::PodAffinityTerm> none;
    return affinity ? affinity->requiredDuringSchedulingIgnoredDuringExecution : none;
}

// Reports whether a new machine at one of the places would be in the node's domain.
bool shares_domain(const Pool& pool, const BitSet& places, const api::Node& node, const std::string& key) {
    const auto* domain = api::find(node.metadata.labels, key);
    if (!domain) return false;
    for (auto place = places.next(0); place != kNone; place = places.next(place + 1)) {
        const auto* value = api::find(pool.places[place].labels, key);
        if (!value) value = api::find(pool.labels, key);
        if (value && *value == *domain) return true;
    }
    return false;
}

// Returns, for example, "of pod shop/hermit on node n1", for a pod on a node that keeps `pod` away from the
// places. A rule by hostname keeps no pod away from a new machine.
std::string one_that_keeps_away(const Snapshot& snapshot, const api::Pod& pod, const BitSet& places,
                                std::size_t pool) {
    const SelectionReader selections(snapshot.namespaces);
    for (const auto& node : snapshot.nodes)
        for (const auto& other : node.pods)
            for (const auto& term : required_terms(other->spec.affinity->podAntiAffinity))
                if (!differs_by_node(term.topologyKey) &&
                    shares_domain(snapshot.pools[pool], places, *node.node, term.topologyKey) &&
                    selections.read(term, *other).matches(pod))
                    return "of pod " + api::key_of(*other).str() + " on node " + node.node->metadata.name +
                           " (by " + term.topologyKey + ")";
    return "of other pending pods, which get room first,";
}

// `all` are the rules of the pod and those of other pods that keep it away.
std::string anti_affinity_obstacle(const Snapshot& snapshot, const PodPlacer& placer,
                                   const PodClass& pod_class, const Rules& all, BitSet& places,
                                   std::size_t pool) {
    const auto& sample = *pod_class.sample;
    const auto& own = placer.topology().required(pod_class);
    auto left = places;
    retain(left, placer, {{}, {}, own.empty}, pool);
    retain(places, placer, {{}, {}, all.empty}, pool);
    if (!places.empty()) return {};
    if (left.empty())
        return "pod anti-affinity excludes every place where it could create a machine (" +
               words_of_terms(required_terms(sample.spec.affinity->podAntiAffinity)) + ")";
    return "pod anti-affinity " + one_that_keeps_away(snapshot, sample, left, pool) +
           " excludes every place where it could create a machine";
}

std::string affinity_obstacle(const PodPlacer& placer, const api::PodSpec& pod, const Rules& rules,
                              BitSet& places, std::size_t pool) {
    retain(places, placer, {{}, rules.affinities, {}}, pool);
    if (!places.empty()) return {};
    return "a new machine would not be near the pods that pod affinity requires (" +
           words_of_terms(required_terms(pod.affinity->podAffinity)) + ")";
}

std::vector<const api::TopologySpreadConstraint*> required_constraints(const api::PodSpec& pod) {
    std::vector<const api::TopologySpreadConstraint*> required;
    for (const auto& constraint : *pod.topologySpreadConstraints)
        if (constraint.whenUnsatisfiable != api::UnsatisfiableConstraintAction::ScheduleAnyway)
            required.push_back(&constraint);
    return required;
}

std::string words_of_constraint(const api::TopologySpreadConstraint& constraint) {
    auto text = "over " + constraint.topologyKey + " (maxSkew " + std::to_string(constraint.maxSkew);
    if (constraint.minDomains) text += ", minDomains " + std::to_string(*constraint.minDomains);
    return text + "), and its whenUnsatisfiable is DoNotSchedule";
}

std::string words_of_domains(const std::vector<std::string>& domains) {
    constexpr std::size_t kMostNamed = 3;
    return domains.empty() ? "" : "; the emptiest domains are " + base::joined_first(domains, kMostNamed);
}

// The rules are in the order of the constraints.
std::string spread_obstacle(const PodPlacer& placer, const api::PodSpec& pod, const Rules& rules,
                            BitSet& places, std::size_t pool) {
    const auto constraints = required_constraints(pod);
    for (std::size_t i = 0; i < rules.spreads.size(); ++i) {
        retain(places, placer, {{rules.spreads[i]}, {}, {}}, pool);
        if (places.empty() && i < constraints.size())
            return "a machine that it can create would break the topology spread constraint " +
                   words_of_constraint(*constraints[i]) +
                   words_of_domains(placer.topology().emptiest_domains(rules.spreads[i]));
    }
    return places.empty() ? "a machine that it can create would break a topology spread constraint" : "";
}

// Returns why the pool's nodes have no domain of a rule's topology; empty: they have one of each.
std::string missing_domain(const Pool& pool, const api::PodSpec& pod) {
    const auto lacks = [&pool](const std::string& key) {
        return std::ranges::none_of(pool.places, [&](const PlaceOfPool& place) {
            return label_at(pool, place.labels, key) != nullptr;
        });
    };
    const auto say = [&pool](const std::string& key, const std::string& rule) {
        return "its nodes have no label " + key + ", which " + rule + " needs" + remedy_for_label(pool, key);
    };
    for (const auto* constraint : required_constraints(pod))
        if (lacks(constraint->topologyKey))
            return say(constraint->topologyKey, "the pod's topology spread constraint");
    if (!pod.affinity) return {};
    for (const auto& term : required_terms(pod.affinity->podAffinity))
        if (lacks(term.topologyKey)) return say(term.topologyKey, "the pod's affinity to other pods");
    return {};
}

std::string topology_obstacle(const Snapshot& snapshot, PodPlacer& placer, const PodClass& pod_class,
                              ClassId id, BitSet& places, std::size_t pool) {
    const auto& pod = pod_class.sample->spec;
    const auto& rules = placer.required(id).rules;
    const auto& own = placer.topology().required(pod_class);
    if (auto missing = missing_domain(snapshot.pools[pool], pod); !missing.empty()) return missing;
    auto text = anti_affinity_obstacle(snapshot, placer, pod_class, rules, places, pool);
    if (text.empty()) text = affinity_obstacle(placer, pod, rules, places, pool);
    if (text.empty()) text = spread_obstacle(placer, pod, own, places, pool);
    if (!text.empty()) return text;
    places = placer.open_places(pool, std::move(places));
    if (!places.empty()) return {};
    text = "a machine created now would break the topology spread of pods placed without it";
    if (const auto constraints = required_constraints(pod); !constraints.empty())
        text += ", which these pods ask for " + words_of_constraint(*constraints.front());
    return text;
}

}  // namespace

std::string obstacle_at(const Snapshot& snapshot, PodPlacer& placer, const PodClass& pod_class, ClassId id,
                        BitSet& places, std::size_t pool) {
    if (auto text = topology_obstacle(snapshot, placer, pod_class, id, places, pool); !text.empty())
        return text;
    if (auto taken = placer.port_obstacle(id, places, pool); !taken.empty()) return taken;
    if (!placer.has_free_volumes(id, places, pool))
        return "other pending pods get the volumes that the pod could use there";
    return {};
}

}  // namespace scheduling
