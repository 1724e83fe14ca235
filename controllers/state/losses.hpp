// Nodes, machines and claims of a pool that others took away. A replacement that is taken away too shows that
// another machine does not help, so the pauses between machines grow until an hour passes without a loss.
// Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/state/pool_counts.hpp"

namespace api::conditions {
// Of a pool, only while it is True: others delete its Nodes, machines or claims.
inline constexpr std::string_view kTakenAway = "TakenAway";
}  // namespace api::conditions
namespace api::reasons {
inline constexpr std::string_view kClaimDeleted = "ClaimDeleted";  // TakenAway
}  // namespace api::reasons

namespace controllers {

// What somebody else took away of the claim.
struct Loss {
    std::string_view reason;  // NodeDeleted, MachineVanished or ClaimDeleted
    std::string message;
};
std::optional<Loss> loss_of(const NodeSmithClaim& claim, const NodeSmithPool& pool);

// Reports whether the claim is a loss that the pool's status does not count yet.
bool is_uncounted_loss(const NodeSmithClaim& claim, const NodeSmithPool& pool);
// Counts the losses among the pool's claims, each once, and forgets the series when its time is over.
void count_losses(const NodeSmithPool& pool, const ClaimPointers& claims, api::v1alpha1::PoolStatus& status,
                  api::Time now);
// Returns when the series of losses ends unless there is another one; nullopt: there is no series.
std::optional<api::Time> end_of_losses(const api::v1alpha1::PoolStatus& status);
// Reports whether the pool creates nothing now because of its losses.
bool pauses_after_losses(const api::v1alpha1::PoolStatus& status, api::Time now);
// Returns what was taken away and by whom, as far as anything hints at it, and what to do, for people.
std::string losses_text(const api::v1alpha1::Losses& losses);

// After a replacement was taken away too, machines come one at a time until one has stayed for a while.
struct Probe {
    bool is_needed = false;
    std::string claim;                   // that is the probe now; empty: there is none
    std::optional<api::Time> proven_at;  // when it will have stayed for long enough, once it is in service
};
Probe probe_of(const NodeSmithPool& pool, const ClaimPointers& claims, api::Time now);

}  // namespace controllers
