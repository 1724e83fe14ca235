#include "controllers/provisioning/predictions.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/disruption/facts/blocker.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"

namespace controllers::provisioning {

using api::Time;
using api::v1alpha1::Misprediction;

namespace {

bool is_launched_for(const NodeSmithClaim& claim, const std::string& uid) {
    const auto uids = launched_for(claim);
    return std::ranges::find(uids, uid) != uids.end();
}

// Returns the newest launch for the pod that became a Node and was not judged yet. A judged one is
// older than the pause that it caused.
std::optional<Time> unjudged(const ClaimPointers& claims, const std::string& uid,
                             std::optional<Time> paused_until) {
    std::optional<Time> newest;
    for (const auto& claim : claims) {
        const auto since = claim::usable_since(*claim);
        if (!since || !is_launched_for(*claim, uid)) continue;
        if (paused_until && claim->metadata.creationTimestamp < *paused_until) continue;
        newest = std::max(newest, since);
    }
    return newest;
}

std::chrono::seconds pause_after(int wrong) {
    std::chrono::seconds pause = kFirstPause;
    for (int i = 1; i < wrong && pause < kLongestPause; ++i) pause *= 2;
    return std::min<std::chrono::seconds>(pause, kLongestPause);
}

}  // namespace

PodHistory history_of(const std::string& pod_uid, const std::string& kind, const Pools& pools) {
    PodHistory pod_history;
    for (const auto& [key, pool] : pools) {
        for (const auto& entry : pool->status.mispredictions) {
            const bool is_own = entry.podUID == pod_uid;
            if (!is_own && (kind.empty() || entry.kind != kind)) continue;
            pod_history.wrong = std::max(pod_history.wrong, entry.count);
            if (entry.nextRetryTime < pod_history.retry_at ||
                (entry.nextRetryTime == pod_history.retry_at && !is_own))
                continue;
            pod_history.retry_at = entry.nextRetryTime;
            pod_history.pod = entry.pod;
            pod_history.is_of_kind = !is_own;
        }
    }
    return pod_history;
}

namespace {

bool is_remembered(const Misprediction& entry, const std::set<std::string>& waiting,
                   const std::set<std::string>& placed, Time now) {
    if (waiting.contains(entry.podUID)) return true;
    return !entry.kind.empty() && !placed.contains(entry.podUID) && entry.nextRetryTime &&
           now.at < entry.nextRetryTime->at + kRemembered;
}

// Keeps one deleted pod for each kind: the one with the most wrong predictions.
void forget_surpassed(std::vector<Misprediction>& list, const std::set<std::string>& waiting) {
    std::map<std::string, std::pair<std::int32_t, std::string>> best;  // count and pod, by kind
    for (const auto& entry : list)
        best[entry.kind] = std::max(best[entry.kind], std::pair(entry.count, entry.podUID));
    std::erase_if(list, [&](const Misprediction& entry) {
        return !waiting.contains(entry.podUID) && best[entry.kind].second != entry.podUID;
    });
}

}  // namespace

Predictions judge(const NodeSmithPool& pool, const ClaimPointers& claims,
                  const std::vector<ContradictedPod>& contradicted, const std::set<std::string>& waiting_uids,
                  const std::set<std::string>& placed, const Pools& pools, Time now) {
    Predictions result;
    for (const auto& entry : pool.status.mispredictions)
        if (is_remembered(entry, waiting_uids, placed, now)) result.list.push_back(entry);
    for (const auto& pod : contradicted) {
        const auto pod_history = history_of(pod.uid, pod.kind, pools);
        const auto since = unjudged(claims, pod.uid, pod_history.retry_at);
        if (!since) continue;
        const Time judged(std::max(*since, pod.gathered_at.value_or(*since)).at + kSchedulerPatience);
        if (now < judged) {
            result.judge_at = result.judge_at ? std::min(*result.judge_at, judged) : judged;
            continue;
        }
        auto entry = std::ranges::find_if(
            result.list, [&](const Misprediction& known) { return known.podUID == pod.uid; });
        if (entry == result.list.end()) {
            if (result.list.size() >= kMostMispredictions) result.list.erase(result.list.begin());
            Misprediction fresh;
            fresh.podUID = pod.uid;
            fresh.pod = pod.name;
            entry = result.list.insert(result.list.end(), std::move(fresh));
        }
        entry->kind = pod.kind;
        entry->count = pod_history.wrong;
        base::count_up(entry->count);
        entry->nextRetryTime = Time(now.at + pause_after(entry->count));
        result.added.push_back(*entry);
    }
    forget_surpassed(result.list, waiting_uids);
    return result;
}

std::set<std::string> pods_of_leaving_claims(const ClaimPointers& claims) {
    std::set<std::string> uids;
    for (const auto& claim : claims) {
        const auto* disrupted = api::find_condition(claim->status.conditions, conditions::kDisrupted);
        const bool leaves = disrupted && disrupted->status == ConditionStatus::True &&
                            disruption::kind_named(disrupted->reason);
        if (!leaves) continue;
        for (const auto& uid : launched_for(*claim)) uids.insert(uid);
    }
    return uids;
}

}  // namespace controllers::provisioning
