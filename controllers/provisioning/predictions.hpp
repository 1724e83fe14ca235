// Remembers pods that new machines did not help, so that launches for them end. Pure. The data is in the
// status of the launching pool and in the claims, so that it survives a restart.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers::provisioning {

// Limits the machines that are launched for one pod within an hour.
inline constexpr int kMostLaunchesPerHour = 3;
// Limits how long the scheduler may take to see a new Node before a waiting pod counts as contradicting.
inline constexpr std::chrono::seconds kSchedulerPatience{60};
inline constexpr std::chrono::minutes kFirstPause{10};
inline constexpr std::chrono::hours kLongestPause{24};
// Knowledge from a deleted pod applies to others of its kind for this long after its pause.
inline constexpr std::chrono::hours kRemembered{1};
// A pool's status holds at most this many.
inline constexpr std::size_t kMostMispredictions = 128;

// ContradictedPod is a pod that waits although a prediction says that it fits an existing Node. It also
// stands for a pod whose launched machine is being removed already.
struct ContradictedPod {
    std::string uid;
    std::string name;  // namespace/name
    std::string kind;  // see kinds.hpp; empty: other machines helped pods of its kind
    // When the last machine for its PodGroup came into service; nullopt: it has no group, or only one
    // machine.
    std::optional<api::Time> gathered_at = std::nullopt;
};

struct Predictions {
    std::vector<api::v1alpha1::Misprediction> list;   // the pool's list as it should be now
    std::vector<api::v1alpha1::Misprediction> added;  // entries of the list that were found wrong just now
    std::optional<api::Time> judge_at;                // time when a pod's patience ends
};

// Judges the pool's launches. A prediction was wrong if its pod still waits kSchedulerPatience after the
// launched Node was Initialized. Each launch counts once. Entries of pods that no longer wait are dropped. If
// the pod is not `placed` but deleted, its entry is kept for its kind until kRemembered after its pause.
Predictions judge(const NodeSmithPool& pool, const ClaimPointers& claims,
                  const std::vector<ContradictedPod>& contradicted, const std::set<std::string>& waiting_uids,
                  const std::set<std::string>& placed, const Pools& pools, api::Time now);

// PodHistory holds what all pools know about one pod, or about the pods of its kind.
struct PodHistory {
    int wrong = 0;                      // launches that did not help
    std::optional<api::Time> retry_at;  // time before which nothing is launched for it
    std::string pod;                    // pod that this was learned from, as "namespace/name"
    bool is_of_kind = false;            // true if that was another pod of the same kind
};
// Returns the history of this pod alone if `kind` is empty.
PodHistory history_of(const std::string& pod_uid, const std::string& kind, const Pools& pools);

// Returns the UIDs of pods whose launched machines are being removed by our own decision: broken, empty, ...
// Such a launch did not help. Soon only this will remember it.
std::set<std::string> pods_of_leaving_claims(const ClaimPointers& claims);

}  // namespace controllers::provisioning
