// Learns from a pool's newest Nodes what its first machine needs after all of them are gone: what pods of
// DaemonSets request beyond their templates, and how many volumes a machine can attach. People and webhooks
// change such pods, and each kubelet writes its own CSINode. So a single Node is believed only near the
// expected value; further away two Nodes must agree.
#pragma once

#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/state/pool_status.hpp"

namespace controllers {

// Adds the pool's newest Nodes, and the objects that tell which of their pods and drivers count.
void add_newest_nodes(PoolObservation& facts, const Informers& informers);

// Return what Nodes of the template with that hash show, and for a week what they showed last. The
// DaemonSet's UID and the number of its template must still be the same. Pure.
std::vector<api::v1alpha1::LearnedDaemonSet> learn_daemon_sets(const PoolObservation& facts,
                                                               const std::string& template_hash,
                                                               api::Time now);
std::vector<api::v1alpha1::LearnedVolumeLimit> learn_volume_limits(const PoolObservation& facts,
                                                                   const std::string& template_hash,
                                                                   api::Time now);

}  // namespace controllers
