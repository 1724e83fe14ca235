#include "controllers/provisioning/kinds.hpp"

#include <algorithm>

#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "controllers/provisioning/predictions.hpp"
#include "controllers/services/drain.hpp"
#include "scheduling/pods/pod_kind.hpp"

namespace controllers::provisioning {

namespace {

bool is_empty(const Informers& informers, const std::string& node) {
    return std::ranges::none_of(informers.pods.store().by_index(kPodsByNode, node),
                                [](const auto& pod) { return is_drainable(*pod); });
}

bool is_of_last_hour(const std::optional<api::Time>& time, api::Time now) {
    return time && now.at - time->at <= std::chrono::hours{1};
}

// Counts attempts. Launches within one pause count once, because none of them could
// follow from the failure of another.
int attempts(std::vector<api::Time> launches) {
    std::ranges::sort(launches);
    int attempts = 0;
    std::optional<api::Time> begun;
    for (const auto& launch : launches) {
        if (begun && launch.at - begun->at < kFirstPause) continue;
        begun = launch;
        ++attempts;
    }
    return attempts;
}

std::string describe(const Informers& informers, const api::ObjectKey& key) {
    const auto claim = informers.persistent_volume_claims.store().get(key);
    if (!claim) return "missing";
    if (!claim->spec.volumeName.empty()) return "volume " + claim->spec.volumeName;
    const auto size = claim->spec.resources.requests.find("storage");
    return "class " + claim->spec.storageClassName.value_or("(default)") + " " +
           (size == claim->spec.resources.requests.end() ? std::string() : size->second.str());
}

}  // namespace

std::string kind_of(const Informers& informers, const api::Pod& pod) {
    return scheduling::kind_of(
        pod, [&](const std::string& claim) { return describe(informers, {pod.metadata.namespace_, claim}); });
}

std::vector<std::string> kinds_launched_for(const NodeSmithClaim& claim) {
    return listed(claim, api::annotations::kLaunchedForKinds, "kubenodesmith.io/bought-for-kinds");
}

bool was_never_used(const NodeSmithClaim& claim) {
    const auto since = claim::usable_since(claim);
    const auto& empty_since = claim.status.emptySince;
    return since && empty_since && empty_since->at - since->at <= kSchedulerPatience;
}

KindHistories launches_by_kind(const Informers& informers, api::Time now) {
    KindHistories histories;
    std::map<std::string, std::vector<api::Time>> in_vain;  // launch times, by kind
    std::set<std::string> counted;
    for (const auto& [key, claim] : informers.claims.store().all()) {
        counted.insert(claim->metadata.uid);
        const auto since = claim::usable_since(*claim);
        if (!since || !is_of_last_hour(claim->metadata.creationTimestamp, now)) continue;
        const bool is_unused = is_empty(informers, claim->status.nodeName) &&
                               (!claim->status.emptySince || was_never_used(*claim));
        if (is_unused && now.at - since->at < kSchedulerPatience) continue;
        for (const auto& kind : kinds_launched_for(*claim)) {
            if (is_unused)
                in_vain[kind].push_back(*claim->metadata.creationTimestamp);
            else
                ++histories[kind].of_use;
        }
    }
    for (const auto& [key, pool] : informers.pools.store().all())
        for (const auto& past : past_launches(*pool))
            if (is_of_last_hour(past.time, now) && !counted.contains(past.claim_uid))
                for (const auto& kind : past.kinds_in_vain) in_vain[kind].push_back(past.time);
    for (auto& [kind, times] : in_vain) histories[kind].in_vain = attempts(std::move(times));
    return histories;
}

std::set<std::string> pods_of_empty_machines(const Informers& informers) {
    std::set<std::string> uids;
    for (const auto& [key, claim] : informers.claims.store().all()) {
        if (!claim::usable_since(*claim) || !is_empty(informers, claim->status.nodeName)) continue;
        for (auto& uid : launched_for(*claim)) uids.insert(std::move(uid));
    }
    return uids;
}

}  // namespace controllers::provisioning
