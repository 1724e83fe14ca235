#include "controllers/claim/facts/pool_counts.hpp"

#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/claim/state/doubtful_machine.hpp"

namespace controllers {

bool is_ready(const api::Node& node) {
    return api::is_true(node.status.conditions, conditions::kReady);
}

std::optional<api::Time> not_ready_since(const api::Node& node, const NodeSmithClaim& claim, api::Time now) {
    if (is_ready(node)) return std::nullopt;
    const auto* of_node = api::find_condition(node.status.conditions, conditions::kReady);
    auto since = of_node ? of_node->lastTransitionTime : std::nullopt;
    if (!since) since = node.metadata.creationTimestamp.value_or(api::Time{});
    const auto* recorded = api::find_condition(claim.status.conditions, conditions::kReady);
    if (!recorded) return std::min(*since, now);
    if (recorded->status == ConditionStatus::True || !recorded->lastTransitionTime) return now;
    return std::min(std::max(*since, *recorded->lastTransitionTime), now);
}

const api::Node* node_of(const NodeSmithClaim& claim, const Nodes& nodes) {
    if (claim.status.nodeName.empty()) return nullptr;
    const auto found = nodes.find({"", claim.status.nodeName});
    return found == nodes.end() ? nullptr : found->second.get();
}

ClaimState state_of(const NodeSmithClaim& claim) {
    if (claim.metadata.deletionTimestamp) return ClaimState::deleting;
    if (api::is_true(claim.status.conditions, conditions::kFailed)) return ClaimState::failed;
    if (api::is_true(claim.status.conditions, conditions::kReady)) return ClaimState::ready;
    return ClaimState::pending;
}

bool removal_hangs(const NodeSmithClaim& claim) {
    if (is_kept_for_volumes(claim) || claim::waits_for_owner_of_node(claim)) return true;
    const auto* drained = api::find_condition(claim.status.conditions, conditions::kDrained);
    if (drained && drained->reason == reasons::kDrainStalled) return true;
    const auto* deleted = api::find_condition(claim.status.conditions, conditions::kMachineDeleted);
    if (!deleted || deleted->status != ConditionStatus::False)
        return deleted && deleted->reason == claim::kNodeTerminating;
    return deleted->reason != reasons::kAttemptFailed && deleted->reason != reasons::kDeleting &&
           deleted->reason != reasons::kProviderError && deleted->reason != reasons::kOtherCluster;
}

bool is_coming(const NodeSmithClaim& claim) {
    const auto state = state_of(claim);
    return (state == ClaimState::pending || state == ClaimState::ready) && !removal_hangs(claim) &&
           !claim::needs_person_for_machine(claim.status) &&
           !api::is_true(claim.status.conditions, conditions::kRegistered);
}

PoolCounts& PoolCounts::operator+=(const PoolCounts& other) {
    nodes += other.nodes;
    ready_nodes += other.ready_nodes;
    pending_nodes += other.pending_nodes;
    in_service += other.in_service;
    unready += other.unready;
    claims.pending += other.claims.pending;
    claims.ready += other.claims.ready;
    claims.failed += other.claims.failed;
    claims.deleting += other.claims.deleting;
    usage += other.usage;
    return *this;
}

PoolCounts counts_of(const NodeSmithPool& pool, const ClaimPointers& claims, const Nodes& nodes) {
    PoolCounts counts;
    for (const auto& claim : claims) {
        const auto state = state_of(*claim);
        if (state == ClaimState::pending) ++counts.claims.pending;
        if (state == ClaimState::ready) ++counts.claims.ready;
        if (state == ClaimState::failed) ++counts.claims.failed;
        if (state == ClaimState::deleting) ++counts.claims.deleting;
        if (limits::counts(*claim)) counts.usage += limits::one_machine(limits::size_of(claim->spec, &pool));
        if (is_coming(*claim)) ++counts.pending_nodes;

        const auto* node = node_of(*claim, nodes);
        if (node) ++counts.nodes;
        if (node && is_ready(*node)) ++counts.ready_nodes;
        const bool stays = state == ClaimState::pending || state == ClaimState::ready;
        if (stays && !is_kept_for_volumes(*claim) &&
            api::is_true(claim->status.conditions, conditions::kInitialized)) {
            ++counts.in_service;
            if (!node || !is_ready(*node)) ++counts.unready;
        }
    }
    return counts;
}

}  // namespace controllers
