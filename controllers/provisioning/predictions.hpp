// Never launching for ever: what is known of pods for which machines were launched in vain. Pure; kept in the
// status of the pool that launched and in the claims, so that it survives a restart.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/state/pool_counts.hpp"

namespace controllers::provisioning {

// At most this many machines in an hour are launched for the same pod.
inline constexpr int kMostLaunchesPerHour = 3;
// How long the scheduler may take to see a new Node before its silence counts.
inline constexpr std::chrono::seconds kSchedulerPatience{60};
inline constexpr std::chrono::minutes kFirstPause{10};
inline constexpr std::chrono::hours kLongestPause{24};
// How long after the pause what was learned of a pod that is gone holds for others of its kind.
inline constexpr std::chrono::hours kRemembered{1};
// The status of a pool holds at most this many.
inline constexpr std::size_t kMostMispredictions = 128;

// A pod that waits although we think that it fits a Node that exists, or although one was launched for it
// that leaves already.
struct ContradictedPod {
    std::string uid;
    std::string name;  // namespace/name
    std::string kind;  // see kinds.hpp; empty: other machines helped pods of its kind
};

struct Predictions {
    std::vector<api::v1alpha1::Misprediction> list;   // the pool's, as it should be now
    std::vector<api::v1alpha1::Misprediction> added;  // of these, found wrong just now
    std::optional<api::Time> judge_at;                // a pod's patience ends then
};

// Judges the pool's launches: a pod that is contradicted kSchedulerPatience after a Node launched for it was
// Initialized was predicted wrongly. Each launch counts once. Entries of pods that wait no more are
// dropped; if the pod is not `placed` but gone, only kRemembered after its pause, for others of its kind.
Predictions judge(const NodeSmithPool& pool, const ClaimPointers& claims,
                  const std::vector<ContradictedPod>& contradicted, const std::set<std::string>& waiting_uids,
                  const std::set<std::string>& placed, const Pools& pools, api::Time now);

// What all pools together know of one pod, or of the pods of its kind.
struct PodHistory {
    int wrong = 0;                      // launches that did not help
    std::optional<api::Time> retry_at;  // not launched for before
    std::string pod;                    // that taught it, as "namespace/name"
    bool is_of_kind = false;            // that is another one
};
// Without a kind: of this pod alone.
PodHistory history_of(const std::string& pod_uid, const std::string& kind, const Pools& pools);

// UIDs of the pods for which machines were launched that leave by our own decision: broken, empty, ... Such a
// launch did not help, and soon nothing but this is left to remember it by.
std::set<std::string> pods_of_leaving_claims(const ClaimPointers& claims);

}  // namespace controllers::provisioning
