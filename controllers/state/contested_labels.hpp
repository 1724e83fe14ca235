// Handles labels of a pool that another program overwrites on Nodes, as recorded by the pool's claims. The
// pool's status keeps them after their machines are gone, and a condition reports them. No machine is created
// for pods that require them. Pure.
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
