#include "scheduling/explanation.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "scheduling/amount_text.hpp"
#include "scheduling/pods/features.hpp"
#include "scheduling/pods/tolerations.hpp"
#include "scheduling/selector_text.hpp"
#include "scheduling/topology_explanation.hpp"
#include "scheduling/volume_explanation.hpp"

namespace scheduling {

namespace {

const api::NodeSelector* required_affinity(const api::PodSpec& pod) {
    if (!pod.affinity || !pod.affinity->nodeAffinity) return nullptr;
    const auto& required = pod.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    return required ? &*required : nullptr;
}

bool has_label(const Pool& pool, const api::StringMap& of_host, const std::string& key,
               const std::string& value) {
    const auto* found = label_at(pool, of_host, key);
    return found && *found == value;
}

// Reports whether the pod's node selector and required node affinity select the pool's nodes on the host.
bool selects(const api::PodSpec& pod, const Pool& pool, const api::StringMap& of_host) {
    const auto has_it = [&](const auto& label) {
        return has_label(pool, of_host, label.first, label.second);
    };
    if (!std::ranges::all_of(pod.nodeSelector, has_it)) return false;
    const auto* required = required_affinity(pod);
    return !required || api::matches(*required, labels_at(pool, of_host), {});
}

// Misfit says why no node of a pool would suffice. Empty: one might, except for the pod's volumes.
struct Misfit {
    std::string text;
    std::string cause;  // see LaunchObstacle
    Distance distance = Distance::kind;
};

// Hosts selects those of a pool's hosts that an explanation considers.
enum class Hosts { free, all };

template <class Suits>
bool any_host(const Pool& pool, Hosts hosts, const Suits& suits) {
    return std::ranges::any_of(pool.places, suits) ||
           (hosts == Hosts::all && std::ranges::any_of(pool.busy, suits));
}

std::string words_of_unmet(const Pool& pool, const api::NodeSelector& selector) {
    const auto* unmet = unmet_requirement(pool, selector);
    if (!unmet) return ", which asks for " + words_of(selector);
    const bool asks_for_label =
        unmet->operator_ == api::SelectorOperator::In || unmet->operator_ == api::SelectorOperator::Exists;
    return ", which asks for " + words_of(*unmet) +
           (asks_for_label ? remedy_for_label(pool, unmet->key) : note_on_label(pool, unmet->key));
}

Misfit why_unsuitable(const Pool& pool, Hosts hosts, const api::PodSpec& pod, const Amounts& wanted,
                      const Amounts& largest, const ResourceNames& names) {
    if (const auto* taint = untolerated(pool.taints, pod.tolerations)) {
        const auto* note = api::find(pool.notes_on_taints, taint->key);
        return {
            "has taint " + describe(*taint) + ", which the pod does not tolerate" +
                (note ? " (" + *note + ")"
                      : ": let the pod tolerate it, or remove it from machineTemplate.taints of the pool"),
            "taint " + taint->key, Distance::taint};
    }
    for (const auto& entry : wanted.extra)
        if (entry.amount > 0 && largest.extra_amount(entry.resource) == 0)
            return {"its machines offer no " + names.name_of(entry.resource) +
                        ": if they have it, state it in machineTemplate.extendedResources of the pool",
                    "no " + names.name_of(entry.resource)};
    for (const auto& [key, value] : pod.nodeSelector) {
        const auto has_it = [&](const auto& host) { return has_label(pool, host.labels, key, value); };
        if (any_host(pool, hosts, has_it)) continue;
        const auto label = "no label " + key + "=" + value;
        return {"its nodes have " + label + remedy_for_label(pool, key), label};
    }
    const auto* required = required_affinity(pod);
    const auto is_wanted = [&](const auto& host) {
        return !required || api::matches(*required, labels_at(pool, host.labels), {});
    };
    if (!any_host(pool, hosts, is_wanted))
        return {"its nodes do not match the required node affinity" + words_of_unmet(pool, *required),
                "node affinity"};
    const auto is_selected = [&](const auto& host) { return selects(pod, pool, host.labels); };
    if (!any_host(pool, hosts, is_selected))
        return {"none of its nodes matches the node selector (" + words_of(pod.nodeSelector) +
                    ") and the node affinity (" + (required ? words_of(*required) : "") +
                    ") together: change one of them, or add a host that matches both",
                "node selector and affinity"};
    if (pool.declared_features)
        for (const auto feature : required_features(pod))
            if (std::ranges::find(*pool.declared_features, feature) == pool.declared_features->end())
                return {"its youngest node does not declare the feature " + std::string(feature) +
                            " (status.declaredFeatures), which the pod requires: turn it on in the kubelet",
                        "no feature " + std::string(feature)};
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
    if (offered(kPods) < 1)
        return "its DaemonSets leave no room for a pod: raise bootstrap.kubelet.maxPods of the pool, or keep "
               "some of them off its nodes";
    if (wanted.base[kStorage] > offered(kStorage))
        return "needs " + memory(wanted.base[kStorage]) + " of ephemeral storage, largest machine offers " +
               memory(offered(kStorage)) + ": ask for less, or give the machines a larger boot disk";
    for (const auto& entry : wanted.extra) {
        const auto most = largest.extra_amount(entry.resource) - overhead.extra_amount(entry.resource);
        if (entry.amount > most)
            return "needs " + std::to_string(entry.amount) + " " + names.name_of(entry.resource) +
                   ", largest machine offers " + std::to_string(std::max<std::int64_t>(0, most)) +
                   ": if its machines have more, state it in machineTemplate.extendedResources of the pool";
    }
    return "no machine offers " + cpus(wanted.base[kCpu]) + " and " + memory(wanted.base[kMemory]) +
           " together with all else that is requested: ask for less, or offer a machine that has all of it";
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

bool is_too_large(const Amounts& wanted, const Amounts& largest) {
    return wanted.base[kCpu] > largest.base[kCpu] || wanted.base[kMemory] > largest.base[kMemory];
}

// `largest` is what the hosts can give, `stated` what the pool's machines may have.
std::string remedy_for_size(const Snapshot& snapshot, const Pool& pool, const Amounts& total,
                            const Amounts& largest, const Amounts& stated) {
    const auto lacks = [&](Base resource) {
        return total.base[resource] > largest.base[resource] &&
               largest.base[resource] < stated.base[resource];
    };
    const bool is_whole = snapshot.places[pool.places.front().place].is_whole;
    const bool hosts_bound = lacks(kCpu) || lacks(kMemory) || is_whole;
    const bool pool_bounds = is_too_large(total, stated);
    const std::string by_pool = pool.shapes.empty() ? "set a larger max in machineTemplate.flexible"
                                                    : "add a larger one to machineTemplate.sizes";
    if (!hosts_bound) return ": ask for less, or " + by_pool;
    return ": ask for less, or add a larger host" + (pool_bounds && !is_whole ? " and " + by_pool : "");
}

// Returns the most that a machine could have on a host that is in use or offline; nullopt: unknown.
std::optional<Amounts> largest_on_busy(const Pool& pool, const MachineSizes& machines) {
    std::optional<Amounts> largest;
    for (const auto& host : pool.busy) {
        if (!host.largest) return std::nullopt;
        const auto offered = host.is_whole
                                 ? std::optional(machines.offered(
                                       host.largest->cpu_cores, host.largest->memory_mib, pool.pods_per_node))
                                 : machines.largest_within(*host.largest);
        if (offered) largest = at_least(largest.value_or(Amounts()), *offered);
    }
    return largest;
}

// Names the hosts that suit the pod and cannot take a machine now: "metal-1 is in use or offline: ...".
std::string words_of_busy(const Pool& pool, const api::PodSpec& pod, const std::string& before = "") {
    constexpr std::size_t kMostNamed = 5;
    std::vector<std::string> names;
    for (const auto& host : pool.busy)
        if (selects(pod, pool, host.labels)) names.push_back(host.name);
    return base::joined_first(names, kMostNamed) + before + (names.size() == 1 ? " is" : " are") +
           " in use or offline: add hosts, or wait";
}

// Names the hosts at these places by their zones.
std::string names_of(const Pool& pool, const BitSet& places) {
    constexpr std::size_t kMostNamed = 5;
    std::vector<std::string> names;
    for (auto place = places.next(0); place != kNone; place = places.next(place + 1))
        names.push_back(pool.places[place].zone);
    return base::joined_first(names, kMostNamed);
}

constexpr std::size_t kMostExplained = 2;  // pools; one more is explained rather than counted
constexpr std::size_t kMostCausesNamed = 5;

std::string word_of(Distance distance) {
    switch (distance) {
        case Distance::room:
            return "a limit or no room";
        case Distance::size:
            return "too small";
        case Distance::surroundings:
            return "volumes or other pods";
        case Distance::kind:
            return "another kind of node";
        case Distance::taint:
            return "a taint";
    }
    return {};
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
    const auto say = [&](Distance distance, std::string text, std::string cause = {}) {
        return LaunchObstacle{"pool " + pool.name + ": " + text, kNone, {}, distance, std::move(cause)};
    };

    const auto unsuitable = [&](Hosts hosts) {
        return why_unsuitable(pool, hosts, pod_class.sample->spec, wanted, machines.largest(), names);
    };

    // Time does not help a pod that could never run on these hosts.
    const bool waits = !pool.closed.empty() || pool.places.empty();
    const bool knows_hosts = !pool.places.empty() || !pool.busy.empty();
    if (waits && knows_hosts)
        if (auto misfit = unsuitable(Hosts::all); !misfit.text.empty())
            return say(misfit.distance, std::move(misfit.text), std::move(misfit.cause));
    if (!pool.closed.empty()) return say(Distance::room, pool.closed);
    if (pool.places.empty() && !pool.busy.empty()) {
        const auto largest = largest_on_busy(pool, machines);
        if (largest && is_too_large(wanted, *largest))
            return say(Distance::size, too_large(wanted, *largest, {}, names) +
                                           ": ask for less, or add a larger host" +
                                           (pool.why_no_place.empty() ? "" : "; " + pool.why_no_place));
    }
    if (pool.places.empty())
        return say(Distance::room,
                   "no host can take a machine" + (!pool.why_no_place.empty() ? ": " + pool.why_no_place
                                                   : !pool.busy.empty()
                                                       ? ": " + words_of_busy(pool, pod_class.sample->spec)
                                                       : ""));
    if (const auto refusal = why_refused(pool, wanted, machines.largest()); !refusal.empty())
        return say(Distance::room, refusal);
    auto places = placer.required(id).candidates->places[index];
    if (places.empty()) {
        auto misfit = unsuitable(Hosts::free);
        if (!misfit.text.empty() && !pool.busy.empty() && unsuitable(Hosts::all).text.empty())
            return say(Distance::room,
                       words_of_busy(pool, pod_class.sample->spec, " would suit the pod, but"));
        if (!misfit.text.empty())
            return say(misfit.distance, std::move(misfit.text), std::move(misfit.cause));
        return say(Distance::surroundings, why_apart_from_volumes(snapshot, placer, id, index));
    }
    if (const auto excess = placer.volumes_beyond_new(id, index))
        return say(Distance::surroundings,
                   "the pod has " + std::to_string(excess->wanted) + " volumes of driver " + excess->driver +
                       ", and its machines can attach " + std::to_string(excess->limit) +
                       " (CSINode or status.learnedVolumeLimits, unless machineTemplate.volumeLimits of the "
                       "pool states it)");
    if (const auto driver = placer.driver_missing_on_new(id, index))
        return say(
            Distance::surroundings,
            "its youngest node does not run the CSI driver " + *driver +
                ", without which no pod with such a volume is scheduled (preventPodSchedulingIfMissing): let "
                "the driver's DaemonSet run on the pool's nodes");
    const bool is_anywhere = places == BitSet::all(pool.places.size());
    if (const auto obstacle = obstacle_at(snapshot, placer, pod_class, id, places, index); !obstacle.empty())
        return say(Distance::surroundings, obstacle);
    const auto overhead = new_machines.overhead(index, places);
    auto total = overhead;
    total += wanted;
    const auto size = new_machines.smallest(index, places, wanted);
    if (!size) {
        const auto largest = new_machines.largest(index, places);
        const bool hosts_decide = machines.smallest(total).has_value();
        const bool no_size_fits = largest.base[kCpu] <= 0 && largest.base[kMemory] <= 0;
        if (hosts_decide && no_size_fits)
            return say(Distance::size,
                       "each of its sizes is larger than what any host can give one machine: make one "
                       "smaller, or add a larger host");
        std::string remedy = hosts_decide ? ", as no host can give one machine more" : "";
        if (const auto busy = largest_on_busy(pool, machines);
            busy && is_too_large(total, largest) && !is_too_large(total, *busy))
            return say(Distance::room, "no free host is large enough: larger ones are in use or offline");
        if (is_too_large(total, largest))
            remedy += remedy_for_size(snapshot, pool, total, largest, machines.largest());
        return say(Distance::size, too_large(wanted, largest, overhead, names) + remedy);
    }
    const Take take{1, size->cpu_cores, size->memory_mib};
    const auto& free_capacity = new_machines.free_capacity();
    if (const auto budget = free_capacity.budget_in_the_way(pool, take); budget != kNone) {
        const auto cut = describe(free_capacity.budget(budget), take);
        auto obstacle = say(Distance::room, cut);
        obstacle.budget = budget;
        obstacle.cut = cut;
        return obstacle;
    }
    if (is_anywhere)
        return say(Distance::room, "no host has room for a machine with " + size_text(*size) +
                                       ": add a host, or free room on one");
    return say(Distance::room, "no host that suits the pod (" + names_of(pool, places) +
                                   ") has room for a machine with " + size_text(*size) +
                                   where_volumes_are(placer.plan(id).volumes) + ": free room there");
}

std::vector<std::string> summary_of(std::vector<LaunchObstacle> obstacles) {
    // The order of pools decides between equal distances.
    std::multimap<Distance, LaunchObstacle*> nearest_first;
    for (auto& obstacle : obstacles) nearest_first.emplace(obstacle.distance, &obstacle);
    const auto explained = obstacles.size() <= kMostExplained + 1 ? obstacles.size() : kMostExplained;
    std::vector<std::string> texts;
    std::map<std::string, int> causes;
    for (const auto& [distance, obstacle] : nearest_first) {
        if (texts.size() < explained)
            texts.push_back(std::move(obstacle->text));
        else
            ++causes[obstacle->cause.empty() ? word_of(distance) : obstacle->cause];
    }
    if (causes.empty()) return texts;
    std::vector<std::pair<int, std::string>> counts;
    for (const auto& [cause, count] : causes) counts.emplace_back(-count, cause);
    std::ranges::sort(counts);
    std::vector<std::string> words;
    for (const auto& [count, cause] : counts) words.push_back(cause + " (" + std::to_string(-count) + ")");
    texts.push_back(std::to_string(obstacles.size() - explained) +
                    " other pools: " + base::joined_first(words, kMostCausesNamed));
    return texts;
}

}  // namespace scheduling
