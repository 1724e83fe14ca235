#include "operator/plan/plan.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "api/names.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/disruption/pool_observer.hpp"
#include "controllers/disruption/rules/blocks.hpp"
#include "controllers/disruption/rules/budgets.hpp"
#include "controllers/disruption/rules/pods.hpp"
#include "controllers/provisioning/decision.hpp"
#include "controllers/services/drain.hpp"
#include "scheduling/removal.hpp"

namespace kubenodesmith {
namespace {

using namespace controllers;
using namespace controllers::provisioning;
using scheduling::Availability;

// Planner makes the operator's decisions and records them as a plan.
class Planner {
public:
    explicit Planner(ClusterSnapshot& view)
        : report_(view.report()),
          notes_(view.notes()),
          informers_(view.informers()),
          reservations_(informers_, view.client(), view.clock()),
          observer_(informers_, view.clock(), disruption_reports_, nullptr) {}

    Plan make() {
        plan_.managed = report_.managed;
        plan_.notes = notes_;
        scheduling::Solver solver;
        const auto decision =
            decide({informers_, reservations_, template_hashes_, {}, {}, true}, solver, report_.time);
        note_machines(decision);
        if (!plan_.planned_machines.empty()) plan_.price = decision.result.price;
        note_pods(decision);
        for (const auto& supply : decision.world.pools) {
            if (!supply.gate.open)
                plan_.closed_pools.push_back({api::key_of(*supply.pool), supply.gate.message});
        }
        for (const auto& cut : decision.result.cuts) plan_.cuts.push_back(cut.message);
        note_nodes();
        return std::move(plan_);
    }

private:
    void note_machines(const ProvisioningDecision& decision) {
        for (const auto& launch : decision.launches) {
            for (const auto index : launch.claims) {
                const auto& claim = decision.result.claims[index];
                PlannedMachine planned_machine;
                planned_machine.pool = api::key_of(*decision.world.pools[launch.pool].pool);
                planned_machine.cpuCores = claim.cpu_cores;
                planned_machine.memoryMiB = claim.memory_mib;
                planned_machine.zone = claim.zone;
                planned_machine.reason = claim.reason;
                planned_machine.observed_by = launch.observed_by;
                for (const auto* pod : claim.pods) {
                    planned_machine.pods.push_back(api::key_of(*pod));
                    if (decision.demand.waiting.contains(pod->metadata.uid))
                        plan_.pods.push_back({planned_machine.pods.back(),
                                              WaitingPod::Outlook::planned_machine,
                                              planned_machine.pool.name,
                                              {},
                                              launch.observed_by});
                }
                plan_.planned_machines.push_back(std::move(planned_machine));
            }
        }
    }

    void note_pods(const ProvisioningDecision& decision) {
        for (const auto& placement : decision.result.placements) {
            if (!placement.node || !decision.demand.waiting.contains(placement.pod->metadata.uid)) continue;
            const auto& node = decision.world.snapshot.nodes[*placement.node];
            const auto& name = node.node->metadata.name;
            WaitingPod waiting{api::key_of(*placement.pod), WaitingPod::Outlook::node, name, {}, {}};
            if (node.availability != Availability::ready) {
                const auto held = why_held(name);
                waiting.outlook = held ? WaitingPod::Outlook::held_node : WaitingPod::Outlook::coming_node;
                if (held) waiting.reasons.push_back(*held);
                const auto note = decision.world.notes_on_nodes.find(name);
                if (note != decision.world.notes_on_nodes.end()) waiting.reasons.push_back(note->second);
            } else if (decision.freed.nodes.contains(*placement.node)) {
                waiting.outlook = WaitingPod::Outlook::freed_node;
            }
            plan_.pods.push_back(std::move(waiting));
        }
        for (const auto& pod : decision.demand.nominated)
            plan_.pods.push_back(
                {api::key_of(*pod), WaitingPod::Outlook::freed_node, pod->status.nominatedNodeName, {}, {}});
        for (const auto& pod : decision.refused)
            plan_.pods.push_back({api::key_of(*pod.pod), WaitingPod::Outlook::nothing, "", pod.reasons, {}});
        std::ranges::sort(plan_.pods, [](const auto& a, const auto& b) { return a.pod < b.pod; });
    }

    // Returns why the claim of that name has no machine yet, although the operator keeps trying. Returns
    // nullopt if its creation makes progress.
    std::optional<std::string> why_held(const std::string& name) const {
        for (const auto& claim : informers_.claims.store().by_index(kClaimsByName, name)) {
            const auto* launched = api::find_condition(claim->status.conditions, api::conditions::kLaunched);
            if (!launched || launched->status != api::ConditionStatus::False) continue;
            const bool is_progress =
                launched->reason == api::reasons::kWaiting || launched->reason == api::reasons::kLaunching;
            if (!is_progress) return launched->message;
            if (claim->status.lastFailure) return claim->status.lastFailure->message;
        }
        return std::nullopt;
    }

    // Examines each node alone, and records the reasons for keeping it.
    void note_nodes() {
        auto world = world_for_removals({informers_, reservations_, template_hashes_, {}}, report_.time);
        // These removals save nodes and replace none. So pods whose data is on their node need a place, too.
        world.snapshot.tied_pods.clear();
        for (std::size_t i = 0; i < world.snapshot.nodes.size(); ++i) {
            const auto& node = world.snapshot.nodes[i];
            if (node.availability != Availability::ready) continue;
            const auto* facts = report_.claim_of_node(node.node->metadata.name);
            if (!facts || !controllers::disruption::is_staying(*facts->claim)) continue;
            const auto& pool = facts->pool;
            PlannedRemoval removal;
            removal.node = node.node->metadata.name;
            removal.claim = facts->key();
            removal.empty =
                std::ranges::none_of(node.pods, [](const auto& pod) { return is_drainable(*pod); });
            if (!pool || pool->spec.scaleDown.policy == api::v1alpha1::ScaleDownPolicy::Never) {
                removal.reasons = {pool ? "scaleDown.policy of the pool is Never" : "its pool is not there"};
            } else {
                scheduling::RemovalRequest request;
                request.nodes = {i};
                request.headroom_percent = removal.empty ? 0 : pool->spec.scaleDown.headroomPercent;
                auto outcome = scheduling::simulate_removal(world.snapshot, request);
                removal.possible = outcome.possible;
                removal.reasons = std::move(outcome.reasons);
                note_volumes(*facts, removal);
                note_rules(*facts, removal);
                if (removal.possible) note_budget(*pool, removal);
            }
            plan_.nodes.push_back(std::move(removal));
        }
    }

    void note_volumes(const report::ClaimFacts& facts, PlannedRemoval& removal) const {
        if (!facts.node) return;
        const auto volumes = local_volumes_of(informers_, *facts.claim, facts.node.get());
        const auto held = named(held_among(volumes, facts.pool.get(), *facts.claim));
        if (held.empty()) {
            removal.lost = lost_with(*facts.claim, volumes);
            return;
        }
        removal.possible = false;
        removal.reasons.insert(removal.reasons.begin(),
                               held + " can be used on this node only: " + how_to_release_volumes());
    }

    // Adds the operator's own rules by which it keeps a node. Delays that end by themselves count only if
    // they depend on the node's age.
    void note_rules(const report::ClaimFacts& facts, PlannedRemoval& removal) {
        using disruption::Kind;
        const auto& view = view_of(facts.pool);
        const auto kind = removal.empty ? Kind::Empty : Kind::Underutilized;
        if (view.observes()) removal.observed_by = view.manager->metadata.name;
        keep_if(disruption::standing_blocker(view.facts), removal);
        const auto member = std::ranges::find_if(
            view.members, [&](const auto& each) { return each.node->metadata.name == removal.node; });
        if (member == view.members.end()) return;
        // The grace period of an empty node passes.
        disruption::NodeFacts on_node{view.facts.pool, *member->claim, *member->node};
        on_node.held_volumes = member->facts.held_volumes;
        on_node.unreadable_pod = member->facts.unreadable_pod;
        keep_if(disruption::node_blocker(view.facts, on_node, kind, report_.time), removal);
        keep_if(
            disruption::pod_blocker(member->pods, disruption::pod_rules(view, *member, kind), report_.time),
            removal);
        const bool is_in_use = !removal.empty;
        if (is_in_use && facts.pool->spec.scaleDown.policy == api::v1alpha1::ScaleDownPolicy::WhenEmpty)
            keep_if(disruption::Blocker{"WhenEmpty", "scaleDown.policy of the pool is WhenEmpty", {}},
                    removal);
    }

    static void keep_if(const std::optional<disruption::Blocker>& blocker, PlannedRemoval& removal) {
        if (!blocker) return;
        removal.possible = false;
        const auto why =
            blocker->message + (blocker->until ? ", until " + blocker->until->str() : std::string());
        if (std::ranges::find(removal.reasons, why) == removal.reasons.end()) removal.reasons.push_back(why);
    }

    const disruption::PoolView& view_of(const PoolPointer& pool) {
        const auto key = api::key_of(*pool);
        const auto known = views_.find(key);
        return known != views_.end() ? known->second
                                     : views_.emplace(key, observer_.observe(pool)).first->second;
    }

    // Applies the disruption budgets, including the windows in which the pool's nodes may be removed.
    void note_budget(const api::v1alpha1::NodeSmithPool& pool, PlannedRemoval& removal) {
        using disruption::Kind;
        disruption::BudgetUse use;
        for (const auto& facts : report_.claims) {
            // Other programs may keep the Node of a machine that is gone for long.
            const bool is_over = claim::is_true(*facts.claim, api::conditions::kMachineDeleted);
            if (facts.pool.get() != &pool || !facts.node || is_over) continue;
            ++use.nodes;
            const bool leaves = facts.claim->metadata.deletionTimestamp ||
                                claim::is_true(*facts.claim, api::conditions::kDisrupted);
            if (leaves || !facts.has_ready_node()) ++use.disrupted;
        }
        const auto kind = removal.empty ? Kind::Empty : Kind::Underutilized;
        keep_if(disruption::budget_blocker(pool.spec.disruption, kind, use, report_.time), removal);
    }

    const report::ClusterReport& report_;
    const std::vector<std::string>& notes_;
    Informers& informers_;
    Reservations reservations_;
    controllers::claim::TemplateHashes template_hashes_;
    DisruptionReports disruption_reports_;
    disruption::PoolObserver observer_;
    std::map<api::ObjectKey, disruption::PoolView> views_;  // by pool
    Plan plan_;
};

}  // namespace

bool Plan::changes_something() const {
    return !planned_machines.empty() ||
           std::ranges::any_of(nodes, [](const auto& node) { return node.empty && node.possible; });
}

Plan make_plan(ClusterSnapshot& view) {
    return Planner(view).make();
}

void keep_only(Plan& plan, const std::string& namespace_) {
    const auto is_elsewhere = [&](const api::ObjectKey& key) { return key.namespace_ != namespace_; };
    std::erase_if(plan.planned_machines, [&](const auto& machine) {
        return is_elsewhere(machine.pool) && std::ranges::all_of(machine.pods, is_elsewhere);
    });
    std::erase_if(plan.pods, [&](const auto& waiting) { return is_elsewhere(waiting.pod); });
    std::erase_if(plan.nodes, [&](const auto& removal) { return is_elsewhere(removal.claim); });
    std::erase_if(plan.closed_pools, [&](const auto& closed) { return is_elsewhere(closed.pool); });
    if (plan.planned_machines.empty()) plan.price = {};
}

}  // namespace kubenodesmith
