// Launches whose claims are gone, kept in an annotation of the pool that launched, so that no restart forgets
// them: a machine that ended in vain must not make room for a fourth within the hour, nor one that is gone
// for more than maxCreationsPerHour.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/state/pool_counts.hpp"
#include "kube/client.hpp"

namespace controllers::provisioning {

// On a pool: a JSON list of {"claim": UID, "time": when it was created, "pods": [UID, ...]}, and if no pod
// ever used the machine "vain": [kind, ...].
inline constexpr std::string_view kPastLaunches = "kubenodesmith.io/past-purchases";
// All annotations of an object together hold 256 KiB; a UID takes 39 bytes, and a launch less than 100. The
// oldest launches go first.
inline constexpr std::size_t kMostRemembered = 2048;  // launches, pods and kinds

struct PastLaunch {
    std::string claim_uid;
    api::Time time;
    std::vector<std::string> pod_uids;
    std::vector<std::string> kinds_in_vain;  // see kinds.hpp
};

// What is noted at the pool; what somebody else wrote there counts as nothing.
std::vector<PastLaunch> past_launches(const NodeSmithPool& pool);

// The claim failed before any machine of it ran: such a launch shows nothing about whether one would help.
bool never_had_machine(const NodeSmithClaim& claim);

// How many machines were launched for each pod within the last hour, by UID of the pod.
std::map<std::string, int> launches_last_hour(const ClaimPointers& claims, const Pools& pools, api::Time now);

// How many claims the pool created within the last hour, those that are gone included. Before the first one
// is gone its ControlPlane must have had a rate for creations.
std::int64_t creations_last_hour(const NodeSmithPool& pool, const ClaimPointers& claims, api::Time now);

// Notes at the pool for which pods that still exist and for which kinds in vain the claim was launched, or
// that it was launched at all where a rate counts it, if that is less than an hour ago. Made before the
// claim's finalizer goes; may be repeated. Throws ApiError, 409 if the pool changed meanwhile.
asio::awaitable<void> remember_launch(Informers& informers, kube::Client& client, NodeSmithClaim claim,
                                      api::Time now);

}  // namespace controllers::provisioning
