// Tracks Nodes, machines and claims of a pool that others removed. A replacement that is removed
// too shows that another machine does not help. So the pauses between machines grow until an
// hour passes without a loss. Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers {

// Loss describes what someone else removed.
struct Loss {
    std::string_view reason;  // NodeDeleted, MachineVanished or ClaimDeleted
    std::string message;
};
std::optional<Loss> loss_of(const NodeSmithClaim& claim, const NodeSmithPool& pool);

// Reports whether the claim is a loss that the pool's status does not count yet.
bool is_uncounted_loss(const NodeSmithClaim& claim, const NodeSmithPool& pool);
// Counts the losses among the pool's claims, each once, and forgets the series when it has ended.
void count_losses(const NodeSmithPool& pool, const ClaimPointers& claims, api::v1alpha1::PoolStatus& status,
                  api::Time now);
// Returns when the series of losses ends unless there is another one; nullopt: there is no series.
std::optional<api::Time> end_of_losses(const api::v1alpha1::PoolStatus& status);
// Reports whether the pool creates nothing now because of its losses.
bool pauses_after_losses(const api::v1alpha1::PoolStatus& status, api::Time now);
// Describes for people what was removed, the likely cause, and a remedy.
std::string losses_text(const api::v1alpha1::Losses& losses);

// Probe limits launches to single machines after a replacement was removed too,
// until one has stayed for a while.
struct Probe {
    bool is_needed = false;
    std::string claim;                   // claim that is the probe now; empty: none
    std::optional<api::Time> proven_at;  // when it will have stayed long enough, once it is in service
};
Probe probe_of(const NodeSmithPool& pool, const ClaimPointers& claims, api::Time now);
// Says for what the next machine of a pool waits whose probe has a claim.
std::string probe_text(const Probe& probe);
// Reason of a pool that waits for a trial or a probe.
inline constexpr std::string_view kOneAtATime = "OneAtATime";

}  // namespace controllers
