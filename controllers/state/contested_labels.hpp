// Labels of a pool that something else writes over, as its claims have seen it: remembered in the pool's
// status beyond their machines, told of in its condition, and not offered to pods. Pure.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/state/pool_status.hpp"

namespace controllers {

// Brings status.contestedLabels up to date, and the condition LabelsContested, which is there only while
// there are any. One that stays on a Node again for ten minutes is forgotten, and so is one that the pool
// does not set any more or sets to another value.
void note_contested_labels(const PoolObservation& facts, api::v1alpha1::PoolStatus& status, api::Time now);

// Takes off the labels that machines of the pool cannot be counted on to have.
void take_contested_off(api::StringMap& labels, const NodeSmithPool& pool);

// Returns what is said, by key, to pods that want labels which Nodes of the pool do not have as its template
// says.
api::StringMap notes_on_labels(const NodeSmithPool& pool, const NodeSmithProvider* provider);

}  // namespace controllers
