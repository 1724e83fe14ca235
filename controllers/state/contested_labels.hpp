// Handles labels of a pool that something else overwrites, as its claims have seen. The pool's status
// remembers them longer than their machines, its condition reports them, and pods are not offered them. Pure.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/state/pool_status.hpp"

namespace controllers {

// Updates status.contestedLabels and the condition LabelsContested, which exists only while there are any.
// A label is forgotten after it has stayed on a Node for ten minutes. It is forgotten too if the pool
// removes it or sets another value.
void note_contested_labels(const PoolObservation& facts, api::v1alpha1::PoolStatus& status, api::Time now);

// Removes the labels that the pool's machines cannot be relied on to have.
void take_contested_off(api::StringMap& labels, const NodeSmithPool& pool);

// Returns messages, by label key, for pods that want labels which the pool's Nodes lack despite its template.
api::StringMap notes_on_labels(const NodeSmithPool& pool, const NodeSmithProvider* provider);

}  // namespace controllers
