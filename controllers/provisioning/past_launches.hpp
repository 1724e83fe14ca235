// Remembers launches whose claims are gone, in an annotation of their pool, so that they survive a restart. A
// machine that did not help must not make room for a fourth within the hour. A machine that is gone still
// counts against maxCreationsPerHour.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "kube/client.hpp"

namespace controllers::provisioning {

// Names the annotation of a pool. It is a JSON list of {"claim": UID, "time": creation time, "pods": [UID,
// ...]}. If no pod ever used the machine, an entry has "vain": [kind, ...].
inline constexpr std::string_view kPastLaunches = "kubenodesmith.io/past-launches";
// All annotations of an object together may have 256 KiB. A UID takes 39 bytes, and a launch less than 100.
// The oldest launches are dropped first.
inline constexpr std::size_t kMostRemembered = 2048;  // launches, pods and kinds

struct PastLaunch {
    std::string claim_uid;
    api::Time time;
    std::vector<std::string> pod_uids;
    std::vector<std::string> kinds_in_vain;  // see kinds.hpp
};

// Returns what the pool records; invalid entries of others count as nothing.
std::vector<PastLaunch> past_launches(const NodeSmithPool& pool);

// Reports whether the claim failed before any machine of it ran. Such a launch
// does not show whether one would help.
bool never_had_machine(const NodeSmithClaim& claim);

// Returns how many machines were launched for each pod within the last hour, by UID of the pod.
std::map<std::string, int> launches_last_hour(const ClaimPointers& claims, const Pools& pools, api::Time now);

// Returns how many claims the pool created within the last hour, including deleted ones. Its ControlPlane
// must have had a creation rate before the first of them was deleted.
std::int64_t creations_last_hour(const NodeSmithPool& pool, const ClaimPointers& claims, api::Time now);

// Records a launch of the last hour in its pool: its existing pods and the kinds that it did not help. It
// also records any launch that counts against a rate. It is called before the claim's finalizer is removed,
// and may be repeated. Throws ApiError, 409 if the pool changed meanwhile.
asio::awaitable<void> remember_launch(Informers& informers, kube::Client& client, NodeSmithClaim claim,
                                      api::Time now);

}  // namespace controllers::provisioning
