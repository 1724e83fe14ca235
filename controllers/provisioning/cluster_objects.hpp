// Puts into a snapshot the objects of the cluster that pods and nodes refer to.
#pragma once

#include <optional>

#include "controllers/cache/informers.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers::provisioning {

// Adds volumes, DaemonSets, namespaces, and what admission completes pods with.
void add_cluster_objects(scheduling::Snapshot& snapshot, const Informers& informers, api::Time now);

// Notes for each pool which features its youngest Node of the present template declares. The nodes must be in
// the snapshot.
void note_declared_features(scheduling::Snapshot& snapshot);

// Returns when the next volume counts as attached for good, because its detachment takes too long.
std::optional<api::Time> next_hanging_detachment(const Informers& informers, api::Time now);

}  // namespace controllers::provisioning
