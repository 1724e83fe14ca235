#include <algorithm>

#include "base/text.hpp"
#include "bootstrap/approval.hpp"
#include "controllers/cache/condition_update.hpp"
#include "controllers/state/control_plane_status.hpp"
#include "controllers/state/course.hpp"
#include "scheduling/amount_text.hpp"

namespace controllers {

using api::ConditionUpdate;
using api::v1alpha1::ControlPlaneStatus;

namespace {

ConditionUpdate not_ready(std::string_view reason, std::string message) {
    return update(conditions::kReady, ConditionStatus::False, reason, std::move(message));
}

// Returns nullopt if the pool has a working provider.
std::optional<ConditionUpdate> problem_of(const NodeSmithPool& pool, const Providers& providers) {
    const auto& name = pool.metadata.name;
    const auto& wanted = pool.spec.providerRef;
    if (wanted.empty())
        return not_ready(reasons::kProviderRefMissing,
                         "pool " + name + " names no provider: set its spec.providerRef");
    const auto found = providers.find({pool.metadata.namespace_, wanted});
    if (found == providers.end())
        return not_ready(reasons::kProviderMissing,
                         "pool " + name + " names provider " + wanted + ", which is not in its namespace");
    const auto* ready = api::find_condition(found->second->status.conditions, conditions::kReady);
    if (!ready)
        return update(conditions::kReady, ConditionStatus::Unknown, reasons::kNotReconciled,
                      "provider " + wanted + " was not examined yet");
    if (ready->status == ConditionStatus::True) return std::nullopt;
    const auto reason = ready->reason == reasons::kImagePreparing ? reasons::kImagePreparing
                                                                  : reasons::kProviderInitializationFailed;
    return not_ready(reason, "provider " + wanted + ": " + ready->message);
}

std::vector<const NodeSmithPool*> listed_pools(const ControlPlaneFacts& facts,
                                               std::vector<std::string>& missing) {
    std::vector<const NodeSmithPool*> found;
    const auto& namespace_ = facts.object.metadata.namespace_;
    for (const auto& name : facts.object.spec.pools) {
        if (name == "*") {
            for (const auto& [key, pool] : facts.pools)
                if (key.namespace_ == namespace_) found.push_back(pool.get());
            continue;
        }
        const auto pool = facts.pools.find({namespace_, name});
        if (pool == facts.pools.end())
            missing.push_back(name);
        else
            found.push_back(pool->second.get());
    }
    return found;
}

// Returns " (there are workers, gpu)".
std::string pools_there(const ControlPlaneFacts& facts) {
    constexpr std::size_t kMostNamed = 5;
    std::string names;
    std::size_t count = 0;
    for (const auto& [key, pool] : facts.pools) {
        if (key.namespace_ != facts.object.metadata.namespace_) continue;
        if (++count <= kMostNamed) names += (names.empty() ? "" : ", ") + key.name;
    }
    if (count > kMostNamed) names += ", ...";
    return count == 0 ? "" : " (there " + std::string(count == 1 ? "is " : "are ") + names + ")";
}

}  // namespace

ConditionUpdate resolve_pools(const ControlPlaneFacts& facts) {
    std::vector<std::string> missing;
    const auto listed = listed_pools(facts, missing);
    if (!missing.empty())
        return not_ready(reasons::kPoolMissing,
                         "pool " + missing.front() + " is listed but not in namespace " +
                             facts.object.metadata.namespace_ + ": correct spec.pools" + pools_there(facts));
    for (const auto* pool : listed) {
        const auto* manager = manager_of(api::key_of(*pool), facts.control_planes);
        if (manager && api::key_of(*manager) != api::key_of(facts.object)) continue;
        if (auto problem = problem_of(*pool, facts.providers)) return std::move(*problem);
    }
    const auto message = listed.empty() ? std::string("no pools are listed in spec.pools")
                                        : "managing " + base::counted(facts.managed_pools, "pool");
    return update(conditions::kReady, ConditionStatus::True, reasons::kPoolsResolved, message);
}

ConditionUpdate judge_readiness(const ControlPlaneFacts& facts) {
    auto pools = resolve_pools(facts);
    const auto& forbidden = facts.token_rights.forbidden;
    if (pools.status != ConditionStatus::True || !facts.joins_by_token || forbidden.empty()) return pools;
    return not_ready(reasons::kTokensMayNotJoin,
                     "machines of pool " + facts.joins_by_token->metadata.name + " cannot join: group " +
                         std::string(bootstrap::kTokenGroup) + " of their bootstrap tokens may not " +
                         forbidden + ": apply config/rbac/bootstrap.yaml (in the chart: rbac.create)");
}

ConditionUpdate judge_health(const api::v1alpha1::ClusterHealth& bounds, const PoolCounts& counts) {
    const bool too_many = counts.unready > bounds.okUnreadyCount &&
                          counts.unready * 100 > counts.in_service * bounds.maxUnreadyPercent;
    if (!too_many)
        return update(conditions::kClusterHealthy, ConditionStatus::True, reasons::kHealthy,
                      "enough nodes are Ready");
    return update(conditions::kClusterHealthy, ConditionStatus::False, reasons::kTooManyUnready,
                  std::to_string(counts.unready) + " of " + base::counted(counts.in_service, "node") + " " +
                      base::is_or_are(counts.unready) +
                      " not Ready: nothing is created or removed until no more than " +
                      base::counted(bounds.okUnreadyCount, "node") + " or " +
                      std::to_string(bounds.maxUnreadyPercent) + " percent are not Ready");
}

ConditionUpdate judge_tokens(const ControlPlaneFacts& facts) {
    const auto tell = [](ConditionStatus status, std::string_view reason, std::string message) {
        return update(conditions::kTokensBoundToNodes, status, reason, std::move(message));
    };
    if (facts.token_rights.cluster_approves.value_or(false))
        return tell(
            ConditionStatus::False, reasons::kClusterApprovesTokens,
            "the cluster approves a certificate of any Node's name for every bootstrap token, so anyone who "
            "reads a machine's boot data can become any Node: remove the ClusterRoleBinding that gives "
            "system:certificates.k8s.io:certificatesigningrequests:nodeclient to group system:bootstrappers "
            "or " +
                std::string(bootstrap::kTokenGroup));
    if (facts.left_to_cluster)
        return tell(ConditionStatus::False, reasons::kApprovalLeftToCluster,
                    "pool " + facts.left_to_cluster->metadata.name +
                        " leaves the approval of certificates to the cluster (bootstrap.approval Cluster): "
                        "the tokens of its machines are valid for any Node");
    if (facts.trusts_tokens)
        return tell(
            ConditionStatus::False, reasons::kFormatTrustsTokens,
            "pool " + facts.trusts_tokens->metadata.name +
                " has a bootstrap.format whose servers give anyone with a bootstrap token the certificate of "
                "any Node that they do not know yet: keep the boot data of its machines secret");
    if (!facts.token_rights.cluster_approves)
        return tell(ConditionStatus::Unknown, reasons::kNotReconciled,
                    "the API server did not say whether the cluster approves certificates for every "
                    "bootstrap token: the operator needs the right to create subjectaccessreviews");
    return tell(ConditionStatus::True, reasons::kOperatorApproves,
                "a machine's bootstrap token is valid only for the certificate of its claim's Node");
}

bool is_unhealthy(const NodeSmithControlPlane& control_plane, const PoolCounts& counts) {
    return judge_health(control_plane.spec.health, counts).status == ConditionStatus::False;
}

namespace {

// Reports whether a provider of its pools is unavailable and may recover by itself.
bool waits_for_provider(const ControlPlaneFacts& facts) {
    std::vector<std::string> missing;
    const auto listed = listed_pools(facts, missing);
    return std::ranges::any_of(listed, [&](const NodeSmithPool* pool) {
        const auto found = facts.providers.find({pool->metadata.namespace_, pool->spec.providerRef});
        if (found == facts.providers.end()) return false;
        const auto& all = found->second->status.conditions;
        return !api::is_true(all, conditions::kReady) && !is_stalled(all);
    });
}

}  // namespace

ControlPlaneStatus next_status(const ControlPlaneFacts& facts, api::Time now) {
    auto status = facts.object.status;
    status.observedGeneration = facts.object.metadata.generation;
    for (auto update : {judge_readiness(facts), judge_health(facts.object.spec.health, facts.counts),
                        judge_tokens(facts)}) {
        update.observedGeneration = facts.object.metadata.generation;
        api::set_condition(status.conditions, update, now);
    }
    status.pools = facts.managed_pools;
    status.nodes = facts.counts.nodes;
    status.readyNodes = facts.counts.ready_nodes;
    status.pendingNodes = facts.counts.pending_nodes;
    status.claims = facts.counts.all_claims();
    auto after = facts.object;
    after.status = std::move(status);
    conclude(after, waits_for_provider(facts), now);
    if (after.status != facts.object.status) after.status.lastSyncTime = now;
    return after.status;
}

}  // namespace controllers
