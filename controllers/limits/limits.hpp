// Defines the limits of pools and ControlPlanes: what counts against them and whether more fits. Pure.
// reservations.hpp writes the figures and keeps them correct with two simultaneous operators.
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
// Returns the larger of both for each figure.
Usage at_least(const Usage& a, const Usage& b);

// Zero means unlimited.
struct Limits {
    std::int64_t maxNodes = 0;
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;

    bool any() const { return maxNodes > 0 || cpuCores > 0 || memoryMiB > 0; }
};
Limits limits_of(const api::v1alpha1::PoolSpec& pool);
Limits limits_of(const api::v1alpha1::ControlPlaneSpec& control_plane);

// Returns the smallest machine that a pool offers, which a claim without requirements gets.
api::v1alpha1::Size smallest_size(const api::v1alpha1::MachineTemplate& machine);
// Returns the maximum of each figure over its machines.
api::v1alpha1::Size largest_size(const api::v1alpha1::MachineTemplate& machine);
// Reports whether the pool launches machines of this size.
bool is_offered(const api::v1alpha1::MachineTemplate& machine, const api::v1alpha1::Size& size);
// Returns the size of the claim's machine: its requirements, completed by the pool's smallest size. If pool
// is null (it is gone), it returns the requirements unchanged.
api::v1alpha1::Size size_of(const api::v1alpha1::ClaimSpec& claim, const NodeSmithPool* pool);

// Returns the key that identifies a claim as the pool's own launch number `sequence` (spec.idempotencyKey).
std::string idempotency_key(const std::string& pool_uid, std::int64_t sequence);
// Reports whether a pool launched the claim, so that its place was reserved before. A claim that a user
// created must be admitted (reservations.hpp) before its machine may be created.
bool is_created_by_pool(const NodeSmithClaim& claim);
// Reports whether the claim's place within the limits is taken: launched, or admitted,
// which its status.providerRef shows.
bool is_admitted(const NodeSmithClaim& claim);
// Reports whether the claim has or may still have a machine; MachineDeleted decides. A machine that never
// joined and is kept, stopped, does not count. A claim that may have lost its status counts while the search
// for its machine is unfinished.
bool counts(const NodeSmithClaim& claim);

struct LimitHit {
    std::string reason;   // MaxNodesReached or ResourceLimitReached
    std::string message;  // "5 of 5 nodes are in use"
};
// Reports whether `wanted` fits additionally: nullopt, or the first limit that prevents it. A limit below the
// present use refuses everything new.
std::optional<LimitHit> admits(const Limits& limits, const Usage& used, const Usage& wanted);

// LimitUse holds the limits of a pool or ControlPlane and their present use.
struct LimitUse {
    Limits limits;
    Usage used;
};
struct Grant {
    std::vector<bool> granted;  // for each requested machine, in order
    Usage total;
    std::optional<LimitHit> limit_hit;  // the first limit that refused a machine
};
// Grants as much as fits both, in order. A machine that does not fit does not stop a smaller one after it.
Grant grant(const std::vector<api::v1alpha1::Size>& wanted, LimitUse pool, LimitUse control_plane);

// Claims of a reservation are created within this time after it, or not at all.
inline constexpr base::Duration kReservationUse = std::chrono::seconds{15};
// After this time no claim of a reservation can still be created. It covers kReservationUse, a running
// request of up to 30 s, and 15 s for different clocks.
inline constexpr base::Duration kReservationSettles = std::chrono::seconds{60};
// Returns how long a reservation must still be believed, by its own time; zero:
// it may be replaced by what exists.
base::Duration unsettled_for(const api::v1alpha1::Reserved& reserved, base::WallTime now);

}  // namespace controllers::limits
