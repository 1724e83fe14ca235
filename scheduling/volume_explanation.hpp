// Explains how the volumes of a pod exclude the machines of a pool.
#pragma once
#include <cstddef>
#include <string>

#include "scheduling/pod_placer.hpp"

namespace scheduling {

// Adds the pool's labels to those of a place: the labels of its Nodes there. A Node's own name is unknown.
api::StringMap labels_at(const Pool& pool, api::StringMap labels);
// Returns "label a in (b, c) (note)": the requirement of the selector that no place of the
// Returns a requirement that none of the pool's nodes meets; null: there is none, or the terms are
// alternatives.
const api::SelectorRequirement* unmet_requirement(const Pool& pool, const api::NodeSelector& selector);
// Returns the pool's note on the label in brackets; empty: it has none.
std::string note_on_label(const Pool& pool, const std::string& key);

// Explains that no node of the pool would be where the volumes can be used or provisioned.
std::string why_apart_from_volumes(const Snapshot& snapshot, PodPlacer& placer, ClassId id, std::size_t pool);
// Returns "; volume v of its claim c needs label a=b", which binds the pod to some of the
// pool's places; empty: nothing does.
std::string where_volumes_are(const VolumeDemand& demand);

}  // namespace scheduling
