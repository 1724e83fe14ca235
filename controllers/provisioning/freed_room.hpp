// Room that pods which are ending give back: they have been told to go, and by when they will be gone. What
// fits there then needs no machine.
#pragma once

#include <optional>
#include <set>

#include "controllers/provisioning/world.hpp"

namespace controllers::provisioning {

// How long after its grace period a pod may take to be gone: its sandbox, its volumes.
inline constexpr std::chrono::seconds kEndingPatience{10};
// What ends later is not waited for: a machine is there sooner.
inline constexpr std::chrono::minutes kLongestWaitForRoom{2};

// When a pod that is being deleted should be gone; nullopt: it is not, or has ended.
std::optional<api::Time> ends_by(const api::Pod& pod);

struct FreedRoom {
    std::set<std::size_t> nodes;     // indices into the snapshot's: more is free there soon than now
    std::optional<api::Time> until;  // when the first of these pods should be gone
};
// Takes the pods that will be gone soon off the nodes that stay. One that is not gone in time counts again.
FreedRoom free_room_of_ending_pods(World& world, api::Time now);

}  // namespace controllers::provisioning
