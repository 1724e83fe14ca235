#include "operator/status_page/entries.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "api/json.hpp"
#include "api/names.hpp"
#include "base/text.hpp"

namespace kubenodesmith::status_page {
namespace {

namespace json = boost::json;
using api::v1alpha1::ClaimPhase;
using api::v1alpha1::NodeSmithClaim;

constexpr std::size_t kMostHosts = 200;
constexpr std::size_t kMostMachines = 100;
// Stages of a claim, each with the condition that ends it. The last one ends with the claim.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kStages{
    {{"Launch", api::conditions::kLaunched},
     {"Register", api::conditions::kRegistered},
     {"Initialize", api::conditions::kInitialized},
     {"Serve", ""}}};

template <class T>
json::object named(const T& object) {
    return {{"namespace", object.metadata.namespace_}, {"name", object.metadata.name}};
}

// Adds the condition Ready.
void add_readiness(json::object& entry, const api::Conditions& conditions) {
    const auto* ready = api::find_condition(conditions, api::conditions::kReady);
    entry["ready"] = ready ? api::to_string(ready->status) : "Unknown";
    entry["reason"] = ready ? ready->reason : "NotExamined";
    entry["message"] = ready ? base::shortened(ready->message, kLongestMessage) : "";
    entry["reconciling"] = api::is_true(conditions, api::conditions::kReconciling);
}

void add_time(json::object& entry, const char* key, const std::optional<api::Time>& time) {
    if (time) entry[key] = time->str();
}

json::object machine_of(const NodeSmithClaim& claim) {
    return {{"claim", claim.metadata.name},
            {"phase", api::name_of(claim.status.phase.value_or(ClaimPhase::Pending))},
            {"cpuCores", claim.spec.requirements.cpuCores},
            {"memoryMiB", claim.spec.requirements.memoryMiB}};
}

json::object host_of(const api::v1alpha1::ProviderHost& host,
                     const std::vector<const NodeSmithClaim*>& claims) {
    json::array machines;
    for (std::size_t i = 0; i < claims.size() && i < kMostMachines; ++i)
        machines.push_back(machine_of(*claims[i]));
    return {{"name", host.name},
            {"online", host.online},
            {"evacuating", host.evacuating},
            {"message", base::shortened(host.message, kLongestMessage)},
            {"cpuCores", host.cpuCores},
            {"memoryMiB", host.memoryMiB},
            {"freeCPUCores", host.freeCPUCores},
            {"freeMemoryMiB", host.freeMemoryMiB},
            {"machines", std::move(machines)}};
}

// Returns when the claim's removal began, which ends its earlier stages.
std::optional<api::Time> leaving_since(const NodeSmithClaim& claim) {
    const auto disrupted = api::true_since(claim.status.conditions, api::conditions::kDisrupted);
    const auto deleted = claim.metadata.deletionTimestamp;
    return disrupted && (!deleted || *disrupted < *deleted) ? disrupted : deleted;
}

// Returns the stages that have begun, in their order. The last one has no end while it goes on.
json::array stages_of(const NodeSmithClaim& claim) {
    json::array stages;
    if (!claim.metadata.creationTimestamp) return stages;
    const auto failed = api::true_since(claim.status.conditions, api::conditions::kFailed);
    const auto left = leaving_since(claim);
    const auto last = failed && left ? std::min(*failed, *left) : failed ? failed : left;
    auto begin = *claim.metadata.creationTimestamp;
    for (const auto& [name, reached_by] : kStages) {
        const auto reached =
            reached_by.empty() ? std::nullopt : api::true_since(claim.status.conditions, reached_by);
        const auto end = reached ? reached : last;
        json::object stage{{"name", name}, {"begin", begin.str()}};
        if (end) stage["end"] = std::max(*end, begin).str();
        stages.push_back(std::move(stage));
        if (!reached) break;
        begin = std::max(*reached, begin);
    }
    return stages;
}

// Returns the first unsettled condition that has a message; null if the claim waits for nothing.
const api::Condition* waits_for(const NodeSmithClaim& claim) {
    for (const auto& condition : claim.status.conditions) {
        const bool is_failure = condition.type == api::conditions::kFailed;
        const bool is_settled = (condition.status == api::ConditionStatus::True) != is_failure;
        if (!is_settled && condition.type != api::conditions::kReady && !condition.message.empty())
            return &condition;
    }
    return nullptr;
}

}  // namespace

ClaimsByHost claims_by_host(const report::ClusterReport& report) {
    ClaimsByHost all;
    for (const auto& facts : report.claims) {
        const auto& claim = *facts.claim;
        if (!claim.status.host.empty())
            all[{{claim.metadata.namespace_, claim.status.providerRef}, claim.status.host}].push_back(&claim);
    }
    return all;
}

json::object entry_of(const api::v1alpha1::NodeSmithControlPlane& plane) {
    auto entry = named(plane);
    entry["mode"] = api::name_of(plane.spec.mode);
    add_readiness(entry, plane.status.conditions);
    entry["pools"] = plane.status.pools;
    entry["nodes"] = plane.status.nodes;
    entry["readyNodes"] = plane.status.readyNodes;
    return entry;
}

json::object entry_of(const api::v1alpha1::NodeSmithProvider& provider, const ClaimsByHost& claims) {
    auto entry = named(provider);
    entry["type"] = api::name_of(provider.spec.type);
    add_readiness(entry, provider.status.conditions);
    entry["version"] = provider.status.version;
    entry["machines"] = provider.status.machines;
    json::array hosts;
    for (const auto& host : provider.status.hosts) {
        if (hosts.size() == kMostHosts) break;
        const auto found = claims.find({api::key_of(provider), host.name});
        hosts.push_back(host_of(host, found == claims.end() ? ClaimsByHost::mapped_type() : found->second));
    }
    entry["hosts"] = std::move(hosts);
    return entry;
}

json::object entry_of(const api::v1alpha1::NodeSmithPool& pool, api::Time now) {
    const auto& [limits, status] = std::tie(pool.spec.limits, pool.status);
    auto entry = named(pool);
    entry["provider"] = pool.spec.providerRef;
    add_readiness(entry, status.conditions);
    entry["limits"] = json::object{{"minNodes", limits.minNodes},
                                   {"maxNodes", limits.maxNodes},
                                   {"cpuCores", limits.cpuCores},
                                   {"memoryMiB", limits.memoryMiB}};
    entry["used"] = json::object{{"nodes", status.reserved.nodes},
                                 {"cpuCores", status.reserved.cpuCores},
                                 {"memoryMiB", status.reserved.memoryMiB}};
    entry["readyNodes"] = status.readyNodes;
    entry["pendingNodes"] = status.pendingNodes;
    add_time(entry, "lastScaleUp", status.lastScaleUpTime);
    add_time(entry, "lastScaleDown", status.lastScaleDownTime);
    if (status.nextRetryTime && *status.nextRetryTime > now) {
        entry["failures"] = status.consecutiveFailures;
        add_time(entry, "nextRetry", status.nextRetryTime);
    }
    return entry;
}

json::object entry_of(const api::v1alpha1::NodeSmithHost& host) {
    const auto& status = host.status;
    auto entry = named(host);
    entry["provider"] = host.spec.providerRef;
    add_readiness(entry, status.conditions);
    entry["phase"] = status.phase ? api::name_of(*status.phase) : "";
    entry["power"] = status.powerState;
    entry["model"] = status.model;
    entry["cpuCores"] = status.capacity ? status.capacity->cpuCores : 0;
    entry["memoryMiB"] = status.capacity ? status.capacity->memoryMiB : 0;
    entry["claim"] = status.claimRef ? status.claimRef->name : "";
    return entry;
}

json::object entry_of(const report::ClaimFacts& facts) {
    const auto& claim = *facts.claim;
    const auto& status = claim.status;
    auto entry = named(claim);
    entry["pool"] = claim.spec.poolRef;
    entry["provider"] = status.providerRef;
    entry["host"] = status.host;
    entry["node"] = status.nodeName;
    entry["size"] = status.size;
    entry["phase"] = api::name_of(facts.phase());
    entry["stages"] = stages_of(claim);
    add_time(entry, "leavingSince", leaving_since(claim));
    const auto* waits = facts.phase() == ClaimPhase::Ready ? nullptr : waits_for(claim);
    if (waits)
        entry["waitsFor"] = json::object{{"reason", waits->reason},
                                         {"message", base::shortened(waits->message, kLongestMessage)}};
    return entry;
}

}  // namespace kubenodesmith::status_page
