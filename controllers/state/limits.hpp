// The limits of pools and ControlPlanes: what counts against them and whether something more fits. Pure;
// who writes the figures, and how they stay true with two operators at once, is in reservations.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers::limits {

struct Usage {
    base::Saturating nodes = 0;
    base::Saturating cpuCores = 0;
    base::Saturating memoryMiB = 0;

    Usage& operator+=(const Usage& other);
    friend Usage operator+(Usage a, const Usage& b) { return a += b; }
    bool operator==(const Usage&) const = default;
};
Usage usage_of(const api::v1alpha1::Reserved& reserved);
Usage one_machine(const api::v1alpha1::Size& size);
// The larger of both in each figure.
Usage at_least(const Usage& a, const Usage& b);

// 0 = unlimited.
struct Limits {
    std::int64_t maxNodes = 0;
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;

    bool any() const { return maxNodes > 0 || cpuCores > 0 || memoryMiB > 0; }
};
Limits limits_of(const api::v1alpha1::PoolSpec& pool);
Limits limits_of(const api::v1alpha1::ControlPlaneSpec& control_plane);

// The smallest machine that a pool offers: what a claim without requirements gets.
api::v1alpha1::Size smallest_size(const api::v1alpha1::MachineTemplate& machine);
// The most of each that one of its machines has.
api::v1alpha1::Size largest_size(const api::v1alpha1::MachineTemplate& machine);
// Whether the pool launches machines of this size.
bool is_offered(const api::v1alpha1::MachineTemplate& machine, const api::v1alpha1::Size& size);
// The size of the claim's machine: its requirements, for what they leave open the pool's smallest.
// pool may be null (it is gone): then the requirements as they are.
api::v1alpha1::Size size_of(const api::v1alpha1::ClaimSpec& claim, const NodeSmithPool* pool);

// What makes a claim recognisable as the pool's own launch number `sequence` (spec.idempotencyKey).
std::string idempotency_key(const std::string& pool_uid, std::int64_t sequence);
// True for a claim that a pool launched, so that its place was reserved before it was created; false for one
// that a user applied, which has to be admitted (reservations.hpp) before its machine may be made.
bool is_created_by_pool(const NodeSmithClaim& claim);
// True if the claim's place within the limits is taken: launched, or admitted, which its status.providerRef
// shows.
bool is_admitted(const NodeSmithClaim& claim);
// True for every claim that has or may still have a machine (decided by MachineDeleted, not by hope), but for
// one that never joined and is kept, stopped.
bool counts(const NodeSmithClaim& claim);

struct LimitHit {
    std::string reason;   // MaxNodesReached or ResourceLimitReached
    std::string message;  // "5 of 5 nodes are in use"
};
// Whether `wanted` more fits: nullopt, or the first limit in the way. A limit that was lowered below what is
// in use refuses everything new.
std::optional<LimitHit> admits(const Limits& limits, const Usage& used, const Usage& wanted);

// The limits of a pool or ControlPlane, and what is in use of them.
struct LimitUse {
    Limits limits;
    Usage used;
};
struct Grant {
    std::vector<bool> granted;  // for each wish, in order
    Usage total;
    std::optional<LimitHit> limit_hit;  // the first that refused a wish
};
// As much as fits both, wish by wish in order: one that doesn't fit doesn't stop a smaller one after it.
Grant grant(const std::vector<api::v1alpha1::Size>& wanted, LimitUse pool, LimitUse control_plane);

// Claims of a reservation are created within this time after it, or not at all.
inline constexpr base::Duration kReservationUse = std::chrono::seconds{15};
// After this time nobody can still be creating claims of a reservation: kReservationUse, a request that is
// under way for up to 30 s, and 15 s for clocks that differ.
inline constexpr base::Duration kReservationSettles = std::chrono::seconds{60};
// How long a reservation must still be believed, by its own time; zero: it may be replaced by what is there.
base::Duration unsettled_for(const api::v1alpha1::Reserved& reserved, base::WallTime now);

}  // namespace controllers::limits
