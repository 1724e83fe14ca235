// Decides how a machine is removed: drained, detached, destroyed and verified gone, and only then forgotten.
#pragma once

#include <string>
#include <string_view>

#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/services/drain.hpp"
#include "providers/removal.hpp"

namespace controllers::claim {

// Removes node, machine and token. `done` is the decision once nothing is left.
Decision decide_cleanup(const Situation& situation, const Decision& done);
Decision decide_removal(const Situation& situation);
// Reports whether the machine outlives its claim (deletionPolicy Retain). A machine that never registered is
// not worth keeping and is removed.
bool is_retained(const Situation& situation);

// Waits until the taint had time to reach the scheduler, which could otherwise still bind a pod.
ClaimStatus after_drain(const Situation& situation, const DrainProgress& progress);
// Returns what a drain for this claim may do. Its deadline is the claim's own
// or, for a disruption, the pool's.
DrainRequest drain_request(const Situation& situation);
// Records that the API server knows no Node of the machine. The machine is removed, which cannot be undone.
ClaimStatus after_vain_search(const Situation& situation);
// Records that the machine counts as gone, because the user states it.
void note_stated_gone(ClaimStatus& status, api::Time now);
ClaimStatus after_removal(const Situation& situation, const providers::RemoveResult& result);
// Records that the provider or the boot data's source did not answer. If the cache shows meanwhile that the
// request is done, the error no longer matters.
ClaimStatus after_error(const Situation& situation, std::string_view reason, const std::string& message);

}  // namespace controllers::claim
