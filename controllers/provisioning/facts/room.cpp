#include "controllers/provisioning/facts/room.hpp"
#include "controllers/claim/facts/claim_state.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/backoff.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/limits/limits.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"

namespace controllers::provisioning {

namespace {

kube::ObjectKey pool_of(const NodeSmithClaim& claim) {
    return {claim.metadata.namespace_, claim.spec.poolRef};
}

RoomRefusal refusal_of(const Informers& informers, const NodeSmithClaim& claim) {
    const auto pool = informers.pools.store().get(pool_of(claim));
    const auto size = limits::size_of(claim.spec, pool.get());
    RoomRefusal refusal;
    refusal.provider = claim.metadata.namespace_ + "/" + claim.status.providerRef;
    refusal.zone = claim.spec.zone;
    refusal.size = {size.cpuCores, size.memoryMiB};
    return refusal;
}

// Returns the pods whose places depend on a launch: waiting ones, and those on nodes that are being removed.
// Where a removal hangs, the pods do not move, so they need no place yet.
std::set<std::string> pods_in_need(const Informers& informers) {
    std::set<std::string> uids;
    for (const auto& pod : unschedulable_pods(informers)) uids.insert(pod->metadata.uid);
    for (const auto& [key, claim] : informers.claims.store().all()) {
        if (disruption::is_staying(*claim) || removal_hangs(*claim) || claim->status.nodeName.empty())
            continue;
        for (const auto& pod : informers.pods.store().by_index(kPodsByNode, claim->status.nodeName))
            uids.insert(pod->metadata.uid);
    }
    return uids;
}

}  // namespace

bool lacks_room(const NodeSmithClaim& claim) {
    return claim::waits_for(claim, reasons::kInsufficientCapacity);
}

bool lacks_provider(const NodeSmithClaim& claim) {
    return claim::waits_for(claim, reasons::kProviderNotReady) ||
           claim::waits_for(claim, reasons::kProviderError);
}

bool failed_for_room(const NodeSmithClaim& claim) {
    const auto* failed = api::find_condition(claim.status.conditions, conditions::kFailed);
    return failed && failed->status == ConditionStatus::True &&
           (failed->reason == reasons::kInsufficientCapacity ||
            failed->reason == reasons::kNoHostLargeEnough);
}

bool is_counted(const NodeSmithClaim& claim, const NodeSmithProvider& provider) {
    const auto& hosts = provider.status.hosts;
    const auto host = std::ranges::find(hosts, claim.status.host, &api::v1alpha1::ProviderHost::name);
    return host != hosts.end() &&
           std::ranges::find(host->machineIDs, claim.status.machineID) != host->machineIDs.end();
}

std::vector<RoomRefusal> room_refusals(const Informers& informers, api::Time now) {
    std::vector<RoomRefusal> refusals;
    std::map<kube::ObjectKey, std::vector<RoomRefusal>> failed;
    for (const auto& [key, claim] : informers.claims.store().all()) {
        if (failed_for_room(*claim)) {
            auto refusal = refusal_of(informers, *claim);
            refusal.until =
                api::find_condition(claim->status.conditions, conditions::kFailed)->lastTransitionTime;
            failed[pool_of(*claim)].push_back(std::move(refusal));
        } else if (lacks_room(*claim) && is_coming(*claim)) {
            refusals.push_back(refusal_of(informers, *claim));
        }
    }
    for (auto& [key, of_pool] : failed) {
        const auto pool = informers.pools.store().get(key);
        const auto retry = pool ? pool->spec.scaleUp.retry : api::v1alpha1::Retry{};
        const base::Backoff backoff{retry.initialBackoff.value, retry.maxBackoff.value};
        const auto wait =
            std::chrono::ceil<std::chrono::seconds>(backoff.after(static_cast<std::int32_t>(of_pool.size())));
        for (auto& refusal : of_pool) {
            if (!refusal.until) continue;
            refusal.until = api::Time(refusal.until->at + wait);
            if (now < *refusal.until) refusals.push_back(std::move(refusal));
        }
    }
    return refusals;
}

std::vector<kube::ObjectKey> superfluous_waits(const Informers& informers) {
    std::vector<kube::ObjectKey> keys;
    const auto& claims = informers.claims.store().all();
    const auto waits = [&informers](const NodeSmithClaim& claim) {
        const bool is_stuck = lacks_room(claim) || lacks_provider(claim);
        // A Node with the claim's name may be its own. The claim may have lost its status
        // and be about to find its machine.
        const bool may_serve = informers.nodes.store().get({"", claim.metadata.name}) != nullptr;
        return limits::is_created_by_pool(claim) && is_coming(claim) && is_stuck && !may_serve &&
               claim.status.machineID.empty() && !launched_for(claim).empty();
    };
    const bool any = std::ranges::any_of(claims, [&](const auto& entry) { return waits(*entry.second); });
    if (!any) return keys;
    auto in_need = pods_in_need(informers);
    for (const auto& [key, claim] : claims) {
        if (!is_coming(*claim) || claim->status.machineID.empty()) continue;
        for (const auto& uid : launched_for(*claim)) in_need.erase(uid);
    }
    for (const auto& [key, claim] : claims) {
        if (!waits(*claim)) continue;
        const auto uids = launched_for(*claim);
        const bool is_needed =
            std::ranges::any_of(uids, [&](const std::string& uid) { return in_need.contains(uid); });
        if (!is_needed) keys.push_back(key);
    }
    return keys;
}

}  // namespace controllers::provisioning
