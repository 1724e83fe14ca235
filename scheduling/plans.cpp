#include "scheduling/plans.hpp"

#include <algorithm>

#include "scheduling/pods/features.hpp"

namespace scheduling {

namespace {

template <class T>
void append(std::vector<T>& list, const std::vector<T>& more) {
    list.insert(list.end(), more.begin(), more.end());
}

void append(Rules& rules, const Rules& more) {
    append(rules.spreads, more.spreads);
    append(rules.affinities, more.affinities);
    append(rules.empty, more.empty);
}

bool is_kept(Kept kept, std::size_t preference) {
    return (kept >> preference & 1) != 0;
}

// Returns a problem with devices: their drivers alone know which ones exist and are free.
std::string devices_problem(const api::Pod& pod) {
    const auto& claim = pod.spec.resourceClaims->front();
    return "it asks for devices through " +
           (claim.resourceClaimName.empty() ? "ResourceClaimTemplate " + claim.resourceClaimTemplateName
                                            : "ResourceClaim " + claim.resourceClaimName) +
           ", which no machine of a pool is known to offer: ask for an extended resource that a pool states "
           "in machineTemplate.extendedResources";
}

void make_unique(std::vector<CounterId>& counters) {
    std::ranges::sort(counters);
    counters.erase(std::unique(counters.begin(), counters.end()), counters.end());
}

}  // namespace

PlacementPlan& Plans::of(ClassId id) {
    if (id >= by_class_.size()) by_class_.resize(classes_.size());
    if (!by_class_[id]) by_class_[id] = &plans_.emplace_back(made(id));
    return *by_class_[id];
}

PlacementPlan Plans::made(ClassId id) {
    PlacementPlan plan;
    plan.id = id;
    plan.pod_class = &classes_.at(id);
    plan.requests = &classes_.requests(*plan.pod_class);
    plan.room = Room::wanted(plan.requests->base[kCpu], plan.requests->base[kMemory]);
    if (plan.pod_class->has_ports) plan.ports = host_ports_of(plan.pod_class->sample->spec);
    if (plan.pod_class->has_volumes) plan.volumes = volumes_.demand_of(*plan.pod_class->sample);
    plan.problem =
        plan.pod_class->has_devices ? devices_problem(*plan.pod_class->sample) : plan.volumes.problem;
    plan.others = topology_.spreads_of_others(id);
    plan.preferences = topology_.preferences(*plan.pod_class).size();
    plan.kept = plan.preferences == kMostPreferences ? ~Kept{0} : (Kept{1} << plan.preferences) - 1;
    return plan;
}

Variant& Plans::variant(PlacementPlan& plan, Kept kept) {
    const auto [entry, added] = plan.variants.try_emplace(kept);
    auto& variant = entry->second;
    if (!added) return variant;
    variant.rules = topology_.required(*plan.pod_class);
    const auto& preferences = topology_.preferences(*plan.pod_class);
    for (std::size_t i = 0; i < preferences.size(); ++i)
        if (is_kept(kept, i)) append(variant.rules, preferences[i].rules);
    variant.touched = touched(plan, variant.rules);
    // Others' anti-affinity limits where the pod may be, but need not know where it is.
    append(variant.rules.empty, topology_.repelling(*plan.pod_class));
    make_unique(variant.rules.empty);
    variant.candidates = &candidates(plan, kept);
    return variant;
}

std::vector<CounterId> Plans::touched(const PlacementPlan& plan, const Rules& rules) const {
    const auto& footprint = topology_.footprint(plan.id);
    auto touched = footprint.counted;
    append(touched, footprint.owned);
    append(touched, topology_.daemon_counters());
    for (const auto& rule : rules.spreads) touched.push_back(rule.counter);
    for (const auto& rule : rules.affinities) append(touched, rule.counters);
    append(touched, rules.empty);
    make_unique(touched);
    return touched;
}

Candidates& Plans::candidates(const PlacementPlan& plan, Kept kept) {
    const auto& preferences = topology_.preferences(*plan.pod_class);
    Kept of_nodes = 0;
    for (std::size_t i = 0; i < preferences.size(); ++i)
        if (is_kept(kept, i) && (preferences[i].term || preferences[i].avoids_soft_taints))
            of_nodes |= Kept{1} << i;
    const std::tuple key(plan.pod_class->filter, of_nodes == 0 ? 0 : plan.pod_class->topology, of_nodes);
    const auto [entry, added] = candidates_.try_emplace(key);
    auto& found = entry->second;
    if (!added) return found;

    found.rows = suitable_rows(plan, of_nodes);
    for (auto row = found.rows.next(0); row < rows_.nodes(); row = found.rows.next(row + 1))
        found.slots.insert(row);
    found.known_slots = rows_.nodes();
    for (std::size_t pool = 0; pool < snapshot_.pools.size(); ++pool) {
        auto& places = found.places.emplace_back();
        for (std::size_t place = 0; place < snapshot_.pools[pool].places.size(); ++place)
            if (found.rows.contains(rows_.templates_of(pool) + place)) places.insert(place);
    }
    return found;
}

BitSet Plans::suitable_rows(const PlacementPlan& plan, Kept kept) {
    if (!plan.problem.empty()) return {};
    const auto& pod = plan.pod_class->sample->spec;
    NodeFilter filter;
    filter.equal.push_back(&*pod.nodeSelector);
    if (pod.affinity && pod.affinity->nodeAffinity &&
        pod.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution)
        filter.any_of.push_back(&*pod.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution);
    for (const auto& tie : plan.volumes.ties) filter.any_of.push_back(tie.selector);
    filter.tolerations = &*pod.tolerations;
    for (const auto& entry : plan.requests->extra)
        if (entry.amount > 0) filter.resources.push_back(entry.resource);
    filter.features = required_features(pod);
    const auto& preferences = topology_.preferences(*plan.pod_class);
    for (std::size_t i = 0; i < preferences.size(); ++i) {
        if (!is_kept(kept, i)) continue;
        if (preferences[i].term) filter.all.push_back(preferences[i].term);
        filter.avoids_soft_taints = filter.avoids_soft_taints || preferences[i].avoids_soft_taints;
    }
    auto rows = rows_.evaluator().rows(filter);
    for (const auto& provision : plan.volumes.provisions) rows &= storage_.rows(provision);
    return rows;
}

const Provision* Plans::without_room(ClassId id, std::size_t pool) {
    const auto first = rows_.templates_of(pool);
    const auto end = first + snapshot_.pools[pool].places.size();
    for (const auto& provision : of(id).volumes.provisions)
        if (storage_.rows(provision).next(first) >= end) return &provision;
    return nullptr;
}

}  // namespace scheduling
