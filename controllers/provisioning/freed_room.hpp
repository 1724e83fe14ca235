// Finds room that ending pods will free, and when. Pods that fit there need no machine.
#pragma once

#include <optional>
#include <set>

#include "controllers/provisioning/world.hpp"

namespace controllers::provisioning {

// Limits the time after its grace period that a pod may take to vanish: its sandbox, its volumes.
inline constexpr std::chrono::seconds kEndingPatience{10};
// Room that becomes free later is not waited for, because a machine is available sooner.
inline constexpr std::chrono::minutes kLongestWaitForRoom{2};

// Returns when a pod that is being deleted should be gone; nullopt: it is not being deleted, or has ended.
std::optional<api::Time> ends_by(const api::Pod& pod);

// Returns that time if it is still to come and at most `patience` away; otherwise the pod's room is not
// waited for.
std::optional<api::Time> ends_within(const api::Pod& pod, api::Time now, base::Duration patience);

struct FreedRoom {
    std::set<std::size_t> nodes;     // indices of snapshot nodes that will soon have more room
    std::optional<api::Time> until;  // when the first of these pods should be gone
};
// Removes pods that will soon be gone from the nodes that are kept. A pod that is late counts again.
FreedRoom free_room_of_ending_pods(World& world, api::Time now);

}  // namespace controllers::provisioning
