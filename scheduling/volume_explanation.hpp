// Explains how the volumes of a pod exclude the machines of a pool.
#pragma once
#include <cstddef>
#include <string>

#include "scheduling/pod_placer.hpp"

namespace scheduling {

// Adds the pool's labels to those of a place: the labels of its Nodes there. A Node's own name is unknown.
api::StringMap labels_at(const Pool& pool, api::StringMap labels);
// Returns the value of a label that the pool's Nodes have at a place with these labels; null: they lack it.
// Unlike labels_at() it copies nothing, because a pool may have hundreds of places.
const std::string* label_at(const Pool& pool, const api::StringMap& of_place, const std::string& key);
// Returns a requirement that none of the pool's nodes meets; null: there is none, or the terms are
// alternatives.
const api::SelectorRequirement* unmet_requirement(const Pool& pool, const api::NodeSelector& selector);
// Returns the pool's note on the label in brackets; empty: it has none.
std::string note_on_label(const Pool& pool, const std::string& key);
// Returns that note, or what people can do about the label that the pool's Nodes lack.
std::string remedy_for_label(const Pool& pool, const std::string& key);

// Explains that no node of the pool would be where the volumes can be used or provisioned.
std::string why_apart_from_volumes(const Snapshot& snapshot, PodPlacer& placer, ClassId id, std::size_t pool);
// Returns "; volume v of its claim c needs label a=b", which binds the pod to some of the
// pool's places; empty: nothing does.
std::string where_volumes_are(const VolumeDemand& demand);

}  // namespace scheduling
