#include "scheduling/spread_machines.hpp"

#include <algorithm>
#include <map>

#include "api/names.hpp"
#include "scheduling/machines/machine_sizes.hpp"

namespace scheduling {

namespace {

// Another solve is not worthwhile if the number exceeds the pods' need by at most this factor.
constexpr double kFewEnough = 1.1;
constexpr std::size_t kMostTries = 5;

bool spreads_over_nodes(const api::Pod& pod) {
    return std::ranges::any_of(*pod.spec.topologySpreadConstraints, [](const auto& constraint) {
        return constraint.topologyKey == api::labels::kHostname &&
               constraint.whenUnsatisfiable == api::UnsatisfiableConstraintAction::DoNotSchedule;
    });
}

bool keeps_others_off_its_node(const api::Pod& pod) {
    const auto& affinity = pod.spec.affinity;
    if (!affinity || !affinity->podAntiAffinity) return false;
    const auto& terms = affinity->podAntiAffinity->requiredDuringSchedulingIgnoredDuringExecution;
    return std::ranges::any_of(terms,
                               [](const auto& term) { return term.topologyKey == api::labels::kHostname; });
}

bool any_pod(const NewClaim& claim, bool (*holds)(const api::Pod&)) {
    return std::ranges::any_of(claim.pods, [&](const api::Pod* pod) { return holds(*pod); });
}

std::size_t filled(const Amounts& wanted, const Amounts& offered) {
    base::Saturating machines = 1;
    for (const auto resource : {kCpu, kMemory, kPods}) {
        const auto room = std::max<base::Saturating>(offered.base[resource], 1);
        machines = std::max(machines, (wanted.base[resource] + room - 1) / room);
    }
    return static_cast<std::size_t>(machines);
}

// Returns how many of the largest machines all claims' pods fill, plus machines without pods.
std::size_t least_machines(const Snapshot& snapshot, const SolveResult& result) {
    ResourceNames names;
    std::map<std::size_t, Amounts> wanted;  // by pool
    std::size_t least = 0, apart = 0;
    for (const auto& claim : result.claims) {
        if (claim.pods.empty()) ++least;
        if (any_pod(claim, keeps_others_off_its_node)) ++apart;
        for (const auto* pod : claim.pods) wanted[claim.pool] += requests_of(pod->spec, names);
    }
    for (const auto& [pool, amounts] : wanted)
        least += filled(amounts, MachineSizes(snapshot.pools[pool], names).largest());
    return std::max(least, apart);
}

}  // namespace

std::vector<std::size_t> machine_counts_to_try(const Snapshot& snapshot, const SolveResult& result) {
    const bool has_spread = std::ranges::any_of(
        result.claims, [](const NewClaim& claim) { return any_pod(claim, spreads_over_nodes); });
    if (!has_spread) return {};
    const auto launched = static_cast<double>(result.claims.size());
    std::vector<std::size_t> counts;
    // Pods that wait for machines being created need no others.
    if (!snapshot.nodes.empty()) counts.push_back(0);
    auto count = least_machines(snapshot, result);
    // All machines can rarely be full, and more than the next few numbers rarely help.
    for (std::size_t part = 16;
         counts.size() < kMostTries && kFewEnough * static_cast<double>(count) < launched;
         part = std::max<std::size_t>(part / 2, 4)) {
        counts.push_back(count);
        count += std::max<std::size_t>(1, count / part);
    }
    return counts;
}

}  // namespace scheduling
