// Why the volumes of a pod keep it from the machines of a pool, in words.
#pragma once
#include <cstddef>
#include <string>

#include "scheduling/pod_placer.hpp"

namespace scheduling {

// The labels of a Node of the pool at the place, whose own name is not known.
api::StringMap labels_at(const Pool& pool, const PlaceOfPool& place);
// "label a in (b, c) (note)": the demand of the selector that no place of the pool meets; empty: there is
// no single one.
std::string missing_label(const Pool& pool, const api::NodeSelector& selector);

// None of the pool's nodes would be where the volumes can be used or made.
std::string why_apart_from_volumes(const Snapshot& snapshot, PodPlacer& placer, ClassId id, std::size_t pool);
// "; volume v of its claim c needs label a=b": what binds the pod to some of the pool's
// places; empty: nothing does.
std::string where_volumes_are(const VolumeDemand& demand);

}  // namespace scheduling
