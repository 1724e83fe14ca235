#include "controllers/provisioning/decision.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "controllers/provisioning/demand_rules.hpp"
#include "controllers/provisioning/kinds.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "controllers/provisioning/predictions.hpp"

namespace controllers::provisioning {

namespace {

using Launches = std::map<std::string, int>;

// Counts by the API server's objects, which survive a restart, and by memory. The latter survives if
// people remove the finalizers of claims.
Launches recent_launches(const DecisionInputs& inputs, api::Time now) {
    auto launches = launches_last_hour(inputs.informers.claims.store().values(),
                                       inputs.informers.pools.store().all(), now);
    for (const auto& [uid, count] : inputs.remembered) {
        auto& known = launches[uid];
        known = std::max(known, count);
    }
    return launches;
}

bool is_exhausted(const std::string& uid, const Launches& launches) {
    const auto launched = launches.find(uid);
    return launched != launches.end() && launched->second >= kMostLaunchesPerHour;
}

// Returns pods that caused too many launches. Pods of leaving nodes are demand too, but
// select_demand() does not see them. They get free room but no further machine. Pods that shared a
// machine with them must not suffer.
std::set<std::string> exhausted_pods(const scheduling::SolveResult& result, const Launches& launches) {
    std::set<std::string> uids;
    for (const auto& claim : result.claims)
        for (const auto* pod : claim.pods)
            if (is_exhausted(pod->metadata.uid, launches)) uids.insert(pod->metadata.uid);
    return uids;
}

// Returns false if none of them was found.
bool take_off_leaving_nodes(World& world, const std::set<std::string>& uids) {
    std::size_t taken = 0;
    for (auto& node : world.snapshot.nodes) {
        if (node.availability != scheduling::Availability::leaving) continue;
        taken += std::erase_if(node.pods, [&](const auto& pod) { return uids.contains(pod->metadata.uid); });
    }
    return taken > 0;
}

// Keeps nominated pods on their nodes, because the scheduler tries them there first.
void keep_nominations(World& world, const std::set<std::string>& uids) {
    std::map<std::string_view, std::vector<std::string>> nominated;  // UIDs of pods by node
    for (const auto& pod : world.snapshot.pods)
        if (uids.contains(pod->metadata.uid))
            nominated[pod->status.nominatedNodeName].push_back(pod->metadata.uid);
    if (nominated.empty()) return;
    for (auto& node : world.snapshot.nodes)
        if (const auto found = nominated.find(node.node->metadata.name); found != nominated.end())
            node.launched_for.insert(node.launched_for.end(), found->second.begin(), found->second.end());
}

// Keeps room for pods that the scheduler has nominated for a node. Other pods must not count on it.
void hold_nominated_room(World& world, const PodPointers& nominated) {
    if (nominated.empty()) return;
    for (auto& node : world.snapshot.nodes) {
        if (node.availability != scheduling::Availability::ready) continue;
        for (const auto& pod : nominated)
            if (pod->status.nominatedNodeName == node.node->metadata.name) node.pods.push_back(pod);
    }
}

std::vector<PoolLaunch> launches_of(const World& world, const scheduling::SolveResult& result,
                                    const Informers& informers) {
    std::map<std::size_t, PoolLaunch> by_pool;
    for (std::size_t i = 0; i < result.claims.size(); ++i) by_pool[result.claims[i].pool].claims.push_back(i);
    std::vector<PoolLaunch> launches;
    for (auto& [index, launch] : by_pool) {
        const auto manager = informers.control_planes.store().get(world.pools[index].manager);
        if (!manager) continue;
        launch.pool = index;
        if (observes_only(*manager)) launch.observed_by = manager->metadata.name;
        launches.push_back(std::move(launch));
    }
    return launches;
}

std::vector<RefusedPod> refused_pods(const PendingPods& demand, const scheduling::SolveResult& result,
                                     std::vector<RefusedPod> refused) {
    // Pods of leaving nodes are not pending yet.
    for (const auto& unplaced : result.unplaced)
        if (demand.waiting.contains(unplaced.pod->metadata.uid))
            refused.push_back({unplaced.pod, unplaced.reasons});
    for (const auto& held : demand.held_back) refused.push_back({held.pod.get(), {held.message}});
    return refused;
}

// Closes pools whose claims are refused, with the message of the refusal.
void close_refused(std::vector<PoolSupply>& supplies) {
    for (auto& supply : supplies) {
        const auto* available = api::find_condition(supply.pool->status.conditions, conditions::kAvailable);
        const bool is_refused = available && available->status == ConditionStatus::False &&
                                available->reason == reasons::kClaimsRefused;
        if (!is_refused || !supply.gate.open) continue;
        supply.gate = {};
        supply.gate.reason = reasons::kClaimsRefused;
        supply.gate.message = available->message;
        supply.gate.for_a_while = true;
    }
}

}  // namespace

ProvisioningDecision decide(const DecisionInputs& inputs, scheduling::Solver& solver, api::Time now) {
    const auto& informers = inputs.informers;
    const auto launches = recent_launches(inputs, now);
    ProvisioningDecision decision;
    const auto unschedulable = unschedulable_pods(informers);
    const auto rules = demand_rules(informers, unschedulable, now);
    decision.look_again = rules.look_again;
    decision.demand = select_demand(unschedulable, launches, informers.pools.store().all(),
                                    informers.nodes.store().all(), now, rules);
    auto supplies = look_at_pools(informers, inputs.reservations, inputs.under_way, now);
    if (inputs.reads_refusals) close_refused(supplies);
    decision.world = build_world(informers, inputs.template_hashes, std::move(supplies), decision.demand.pods,
                                 inputs.under_way, now);
    keep_nominations(decision.world, rules.unfounded_nominations);
    decision.freed = free_room_of_ending_pods(decision.world, now);
    hold_nominated_room(decision.world, decision.demand.nominated);
    auto incomplete = remove_incomplete_groups(decision.world, decision.demand, informers, solver);
    decision.result = solver.solve(decision.world.snapshot);
    while (take_off_leaving_nodes(decision.world, exhausted_pods(decision.result, launches)))
        decision.result = solver.solve(decision.world.snapshot);
    decision.launches = launches_of(decision.world, decision.result, informers);
    decision.refused = refused_pods(decision.demand, decision.result, std::move(incomplete));
    return decision;
}

World world_for_removals(const DecisionInputs& inputs, api::Time now) {
    const auto& informers = inputs.informers;
    const auto unschedulable = unschedulable_pods(informers);
    const auto& nodes = informers.nodes.store().all();
    const auto rules = demand_rules(informers, unschedulable, now);
    auto pods = pods_that_keep_nodes(unschedulable, informers.pools.store().all(), nodes, rules);
    auto supplies = look_at_pools(informers, inputs.reservations, inputs.under_way, now);
    auto world = build_world(informers, inputs.template_hashes, std::move(supplies), std::move(pods),
                             inputs.under_way, now);
    hold_nominated_room(world, nominated_pods(unschedulable, nodes, rules));
    const auto launches = recent_launches(inputs, now);
    for (const auto& [uid, count] : launches)
        if (is_exhausted(uid, launches)) world.exhausted.insert(uid);
    return world;
}

PlannedClaim planned_claim_of(const scheduling::NewClaim& claim, const Informers& informers) {
    PlannedClaim planned_claim;
    planned_claim.size = {claim.cpu_cores, claim.memory_mib};
    planned_claim.zone = claim.zone;
    planned_claim.reason = claim.reason;
    std::set<std::string> kinds;
    for (const auto* pod : claim.pods) {
        planned_claim.pod_uids.push_back(pod->metadata.uid);
        planned_claim.pods.push_back(api::key_of(*pod));
        kinds.insert(kind_of(informers, *pod));
    }
    planned_claim.pod_kinds.assign(kinds.begin(), kinds.end());
    return planned_claim;
}

namespace {

// Reports whether the pool launches without pauses or batch limits. Such settings ask
// for few, well considered launches.
bool launches_at_any_time(const api::v1alpha1::ScaleUp& scale_up) {
    return scale_up.batchSize == 0 && scale_up.stabilizationWindow.value <= std::chrono::seconds{0};
}

}  // namespace

void keep_what_is_certain(ProvisioningDecision& decision) {
    std::set<std::size_t> scarce;  // budgets
    for (const auto& cut : decision.result.cuts) scarce.insert(cut.budget);
    for (auto& launch : decision.launches) {
        // The last machines of a limit are distributed when all pods are known.
        const auto& budgets = decision.world.snapshot.pools[launch.pool].budgets;
        const bool is_scarce =
            std::ranges::any_of(budgets, [&](std::size_t budget) { return scarce.contains(budget); });
        const bool may_launch = !is_scarce && launch.observed_by.empty() &&
                                launches_at_any_time(decision.world.pools[launch.pool].pool->spec.scaleUp);
        std::erase_if(launch.claims, [&](std::size_t claim) {
            const auto& made = decision.result.claims[claim];
            return !may_launch || !made.is_full || made.pods.empty();
        });
    }
    std::erase_if(decision.launches, [](const PoolLaunch& launch) { return launch.claims.empty(); });
}

}  // namespace controllers::provisioning
