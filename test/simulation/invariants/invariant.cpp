#include "test/simulation/invariants/invariant.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace simulation {

void Stage::violate(const std::string& invariant, const std::string& message) const {
    world.trace.line("VIOLATION", invariant, ": ", message);
    violations.push_back({world.now(), invariant, message});
}

bool Stage::may_go_first(const NodeSmithClaim& claim) const {
    return deeds.claims_without_finalizer.contains(claim.metadata.uid) ||
           claim.spec.deletionPolicy == api::v1alpha1::DeletionPolicy::Retain;
}

std::optional<int> vmid_of(const std::string& path) {
    static constexpr std::string_view kMachine = "/qemu/";
    const auto at = path.find(kMachine);
    if (at == std::string::npos) return std::nullopt;
    return std::atoi(path.c_str() + at + kMachine.size());
}

std::string claim_uid_of(const NodeSmithHost* host) {
    return host && host->status.claimRef ? host->status.claimRef->uid : "";
}

bool waits_for_secret(World& world, const NodeSmithClaim& claim) {
    const auto* pool = world.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
    const auto* launched = api::find_condition(claim.status.conditions, api::conditions::kLaunched);
    if (!pool || !launched || launched->reason != "MachineNotKnown") return false;
    const auto* provider =
        world.view.find<NodeSmithProvider>({pool->metadata.namespace_, pool->spec.providerRef});
    const auto& reference = provider ? provider->spec.credentialsSecretRef : std::nullopt;
    return reference && !world.server.get<api::Secret>({pool->metadata.namespace_, reference->name});
}

bool has_lost_its_mark(World& world, const NodeSmithClaim& claim) {
    const auto* launched = api::find_condition(claim.status.conditions, api::conditions::kLaunched);
    // The name is taken if the Node of that machine is not Ready.
    const bool waits = launched && (launched->reason == "MachineNotShown" || launched->reason == "NameTaken");
    if (!waits) return false;
    const auto& machines = world.proxmox.cluster().world.machines;
    return std::ranges::any_of(world.administrators.untouchable(), [&](const auto& entry) {
        const auto machine = machines.find(entry.first);
        if (machine == machines.end()) return false;
        const auto name = machine->second.config.find("name");
        return name != machine->second.config.end() && name->second == claim.metadata.name;
    });
}

base::Duration longest_way_to_provider(const FaultPlan& faults) {
    constexpr std::chrono::seconds kSlowestBmc{2};
    constexpr std::chrono::seconds kSlowestNetwork{30};
    return faults.has(Fault::provider_slow) ? kSlowestNetwork + kSlowestBmc : kSlowestBmc;
}

bool is_repaired(const NodeSmithClaim& claim) {
    const auto* condition = api::find_condition(claim.status.conditions, api::conditions::kDisrupted);
    return condition && condition->status == api::ConditionStatus::True &&
           condition->reason == api::reasons::kUnhealthy;
}

std::vector<std::unique_ptr<Invariant>> all_invariants(const Stage& stage) {
    std::vector<std::unique_ptr<Invariant>> all;
    for (auto make : {one_machine_per_claim,
                      limits_hold,
                      rates_hold,
                      busy_nodes_live,
                      budgets_hold,
                      others_machines_untouched,
                      all_comes_to_rest,
                      secrets_stay_secret,
                      never_launches_for_ever,
                      status_tells_the_truth,
                      writes_fit_their_schemas,
                      evicted_pods_run_again,
                      hosts_serve_one_claim,
                      waiting_pods_are_served,
                      outsiders_are_waited_for,
                      refusals_hold_up_no_others,
                      only_the_leader_writes,
                      kept_machines_rest,
                      retained_machines_stay,
                      tokens_are_bound,
                      nothing_is_hammered,
                      tenants_get_nothing,
                      strangers_are_left_alone,
                      addresses_are_given_once,
                      two_clusters_share_a_rack,
                      names_are_free,
                      nominations_are_of_our_machines,
                      templates_are_of_their_images,
                      other_cluster_untouched,
                      provider_is_not_believed_alone,
                      deletions_end,
                      local_volumes_are_kept,
                      series_end,
                      running_machines_are_seen,
                      volumes_of_others_stay,
                      roles_suffice,
                      drains_evict_once,
                      drains_go_on,
                      machines_run_again,
                      nothing_is_due_by_a_clock,
                      odd_answers_cost_nothing,
                      copies_destroy_nothing,
                      nothing_is_wasted}) {
        all.push_back(make(stage));
    }
    return all;
}

}  // namespace simulation
