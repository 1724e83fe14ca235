// Decides how long a pool waits after its claims failed. The pause ends early when the obstacle is gone. It
// grows only while each try costs a machine. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/state/pool_status.hpp"

namespace controllers {

// Counts consecutive failed claims and sets until when nothing is launched. A claim that became a Node ends
// the series. Each failure counts once, by its time.
void count_failures(const PoolObservation& facts, api::v1alpha1::PoolStatus& status);

// Returns when claims of other pools at the pool's provider became Nodes, if the pool has failures.
std::vector<api::Time> joined_of_others(const Informers& informers, const NodeSmithPool& pool);

// Returns why the last claim of the series failed, as a part of a sentence;
// empty: none of them exists any longer.
std::string last_failure(const ClaimPointers& claims);

// Returns a part of a sentence if the last claim never had a machine, so that the pause stays short.
std::string note_on_refusals(const api::v1alpha1::PoolStatus& status);

// Trial limits launches to single claims while it is unknown whether the obstacle of the last failure is
// gone.
struct Trial {
    bool is_needed = false;
    std::string claim;              // claim that is the trial now; empty: none
    std::optional<api::Time> ends;  // when another claim may be tried beside it
};
Trial trial_of(const NodeSmithPool& pool, const ClaimPointers& claims, api::Time now);
// Says for what the next claim of a pool with a trial waits.
std::string trial_text(const NodeSmithPool& pool, const Trial& trial);

}  // namespace controllers
