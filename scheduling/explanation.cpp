#include "scheduling/explanation.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "scheduling/amount_text.hpp"
#include "scheduling/pods/tolerations.hpp"
#include "scheduling/volume_explanation.hpp"

namespace scheduling {

namespace {

const api::NodeSelector* required_affinity(const api::PodSpec& pod) {
    if (!pod.affinity || !pod.affinity->nodeAffinity) return nullptr;
    const auto& required = pod.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    return required ? &*required : nullptr;
}

template <class Holds>
bool holds_somewhere(const Pool& pool, const Holds& holds) {
    return std::ranges::any_of(pool.places,
                               [&](const PlaceOfPool& place) { return holds(labels_at(pool, place)); });
}

// Returns why none of the pool's nodes would suffice; empty: one might, except for the pod's volumes.
std::string why_unsuitable(const Pool& pool, const api::PodSpec& pod, const Amounts& wanted,
                           const Amounts& largest, const ResourceNames& names) {
    if (const auto* taint = untolerated(pool.taints, pod.tolerations)) {
        const auto* note = api::find(pool.notes_on_taints, taint->key);
        return "has taint " + describe(*taint) + ", which the pod does not tolerate" +
               (note ? " (" + *note + ")" : "");
    }
    for (const auto& entry : wanted.extra)
        if (entry.amount > 0 && largest.extra_amount(entry.resource) == 0)
            return "its machines offer no " + names.name_of(entry.resource) +
                   ": if they have it, state it in machineTemplate.extendedResources of the pool";
    for (const auto& [key, value] : pod.nodeSelector) {
        const auto has_label = [&](const api::StringMap& labels) {
            const auto* found = api::find(labels, key);
            return found && *found == value;
        };
        if (holds_somewhere(pool, has_label)) continue;
        const auto* note = api::find(pool.notes_on_labels, key);
        return "its nodes have no label " + key + "=" + value + (note ? " (" + *note + ")" : "");
    }
    const auto* required = required_affinity(pod);
    const auto is_wanted = [&](const api::StringMap& labels) {
        return !required || api::matches(*required, labels, {});
    };
    if (!holds_somewhere(pool, is_wanted)) {
        const auto missing = missing_label(pool, *required);
        return "its nodes do not match the required node affinity" +
               (missing.empty() ? "" : ", which asks for " + missing);
    }
    const auto is_selected = [&](const api::StringMap& labels) {
        return api::matches(pod.nodeSelector, labels) && is_wanted(labels);
    };
    if (!holds_somewhere(pool, is_selected))
        return "none of its nodes matches node selector and node affinity together";
    return {};
}

std::string after_reserve(const Amounts& overhead, Base resource) {
    return overhead.base[resource] > 0 ? " after system reserve and DaemonSets" : " after system reserve";
}

std::string too_large(const Amounts& wanted, const Amounts& largest, const Amounts& overhead,
                      const ResourceNames& names) {
    const auto offered = [&](Base resource) {
        return std::max<std::int64_t>(0, largest.base[resource] - overhead.base[resource]);
    };
    if (wanted.base[kCpu] > offered(kCpu))
        return "needs " + cpus(wanted.base[kCpu]) + ", largest machine offers " + decimal(offered(kCpu)) +
               after_reserve(overhead, kCpu);
    if (wanted.base[kMemory] > offered(kMemory))
        return "needs " + memory(wanted.base[kMemory]) + ", largest machine offers " +
               memory(offered(kMemory)) + after_reserve(overhead, kMemory);
    if (offered(kPods) < 1) return "its DaemonSets leave no room for a pod";
    if (wanted.base[kStorage] > offered(kStorage))
        return "needs " + memory(wanted.base[kStorage]) + " of ephemeral storage, largest machine offers " +
               memory(offered(kStorage));
    for (const auto& entry : wanted.extra) {
        const auto most = largest.extra_amount(entry.resource) - overhead.extra_amount(entry.resource);
        if (entry.amount > most)
            return "needs " + std::to_string(entry.amount) + " " + names.name_of(entry.resource) +
                   ", largest machine offers " + std::to_string(std::max<std::int64_t>(0, most));
    }
    return "no machine offers " + cpus(wanted.base[kCpu]) + " and " + memory(wanted.base[kMemory]) +
           " together with all else that is requested";
}

// Returns the refusal if all machines that could hold the pod have refused shapes.
std::string why_refused(const Pool& pool, const Amounts& wanted, const Amounts& largest) {
    if (wanted.base[kCpu] <= largest.base[kCpu] && wanted.base[kMemory] <= largest.base[kMemory]) return {};
    for (const auto& shape : pool.shapes) {
        const bool holds =
            wanted.base[kCpu] <= shape.cpu_cores * kMilli && wanted.base[kMemory] <= shape.memory_mib * kMiB;
        if (holds && !shape.refused.empty()) return shape.refused;
    }
    return {};
}

// Keeps the places where the rules of one kind hold for a new machine.
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

std::string topology_obstacle(PodPlacer& placer, ClassId id, BitSet& places, std::size_t pool) {
    const auto& rules = placer.required(id).rules;
    retain(places, placer, {{}, {}, rules.empty}, pool);
    if (places.empty()) return "pod anti-affinity excludes every place where it could create a machine";
    retain(places, placer, {{}, rules.affinities, {}}, pool);
    if (places.empty()) return "a new machine would not be near the pods that pod affinity requires";
    retain(places, placer, {rules.spreads, {}, {}}, pool);
    if (places.empty()) return "a machine that it can create would break a topology spread constraint";
    places = placer.open_places(pool, std::move(places));
    if (places.empty())
        return "a machine created now would break the topology spread of pods placed without it";
    if (const auto taken = placer.port_obstacle(id, places, pool); !taken.empty()) return taken;
    if (!placer.has_free_volumes(id, places, pool))
        return "other pending pods get the volumes that the pod could use there";
    return {};
}

std::string remedy_for_size(const Snapshot& snapshot, const Pool& pool, bool hosts_decide) {
    if (hosts_decide || snapshot.places[pool.places.front().place].is_whole)
        return ": ask for less, or add a larger host";
    return pool.shapes.empty() ? ": ask for less, or raise the max of machineTemplate.flexible"
                               : ": ask for less, or add a larger one to machineTemplate.sizes";
}

// Names the hosts at these places by their zones.
std::string names_of(const Pool& pool, const BitSet& places) {
    constexpr std::size_t kMostNamed = 5;
    std::vector<std::string> names;
    for (auto place = places.next(0); place != kNone; place = places.next(place + 1))
        names.push_back(pool.places[place].zone);
    return base::joined_first(names, kMostNamed);
}

std::string size_text(const ShapeSize& size) {
    return cpus(size.cpu_cores * kMilli) + " and " + memory(size.memory_mib * kMiB);
}

}  // namespace

std::string describe(const Budget& budget, const Take& take) {
    std::string left;
    if (budget.nodes && take.machines > *budget.nodes)
        left = counted(std::max<std::int64_t>(0, *budget.nodes), "node") + " left";
    else if (budget.cpu_cores && take.cpu_cores > *budget.cpu_cores)
        left = cpus(std::max<std::int64_t>(0, *budget.cpu_cores) * 1000) + " left, " +
               decimal(take.cpu_cores * 1000) + " needed";
    else if (budget.memory_mib && take.memory_mib > *budget.memory_mib)
        left = memory(std::max<std::int64_t>(0, *budget.memory_mib) * kMiB) + " left, " +
               memory(take.memory_mib * kMiB) + " needed";
    return budget.name + ": " + left;
}

LaunchObstacle explain(const Snapshot& snapshot, PodPlacer& placer, PodClasses& classes, ClassId id,
                       std::size_t index) {
    const auto& pool = snapshot.pools[index];
    const auto& pod_class = classes.at(id);
    const auto& new_machines = placer.new_machines();
    const auto& machines = new_machines.machines(index);
    const auto& wanted = classes.requests(pod_class);
    const auto& names = classes.resource_names();
    const auto say = [&](std::string text, std::size_t budget = kNone) {
        return LaunchObstacle{"pool " + pool.name + ": " + text, budget, budget == kNone ? "" : text};
    };

    if (!pool.closed.empty()) return say(pool.closed);
    if (pool.places.empty())
        return say("no host can take a machine" +
                   (pool.why_no_place.empty() ? "" : ": " + pool.why_no_place));
    if (const auto refusal = why_refused(pool, wanted, machines.largest()); !refusal.empty())
        return say(refusal);
    auto places = placer.required(id).candidates->places[index];
    if (places.empty()) {
        auto why = why_unsuitable(pool, pod_class.sample->spec, wanted, machines.largest(), names);
        return say(why.empty() ? why_apart_from_volumes(snapshot, placer, id, index) : std::move(why));
    }
    if (const auto excess = placer.volumes_beyond_new(id, index))
        return say("the pod has " + std::to_string(excess->wanted) + " volumes of driver " + excess->driver +
                   ", and its machines can attach " + std::to_string(excess->limit) +
                   " (CSINode, or machineTemplate.volumeLimits of the pool)");
    if (const auto driver = placer.driver_missing_on_new(id, index))
        return say(
            "its youngest node does not run the CSI driver " + *driver +
            ", without which no pod with such a volume is scheduled (preventPodSchedulingIfMissing): let the "
            "driver's DaemonSet run on the pool's nodes");
    const bool is_anywhere = places == BitSet::all(pool.places.size());
    if (const auto obstacle = topology_obstacle(placer, id, places, index); !obstacle.empty())
        return say(obstacle);
    const auto overhead = new_machines.overhead(index, places);
    auto total = overhead;
    total += wanted;
    const auto size = new_machines.smallest(index, places, wanted);
    if (!size) {
        const auto largest = new_machines.largest(index, places);
        const bool hosts_decide = machines.smallest(total).has_value();
        const bool no_size_fits = largest.base[kCpu] <= 0 && largest.base[kMemory] <= 0;
        if (hosts_decide && no_size_fits)
            return say(
                "each of its sizes is larger than what any host can give one machine: make one "
                "smaller, or add a larger host");
        std::string remedy = hosts_decide ? ", as no host can give one machine more" : "";
        const bool lacks_size =
            total.base[kCpu] > largest.base[kCpu] || total.base[kMemory] > largest.base[kMemory];
        if (lacks_size) remedy += remedy_for_size(snapshot, pool, hosts_decide);
        return say(too_large(wanted, largest, overhead, names) + remedy);
    }
    const Take take{1, size->cpu_cores, size->memory_mib};
    const auto& free_capacity = new_machines.free_capacity();
    if (const auto budget = free_capacity.budget_in_the_way(pool, take); budget != kNone)
        return say(describe(free_capacity.budget(budget), take), budget);
    if (is_anywhere) return say("no host has room for a machine with " + size_text(*size));
    return say("no host that suits the pod (" + names_of(pool, places) + ") has room for a machine with " +
               size_text(*size) + where_volumes_are(placer.plan(id).volumes));
}

}  // namespace scheduling
