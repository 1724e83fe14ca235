// The status of a NodeSmithPool as it should be, from what is known of its claims and their Nodes. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/state/pool_counts.hpp"

namespace api::conditions {
// A pool has it only while it is True: another claim holds an address that one of its claims holds.
inline constexpr std::string_view kAddressConflict = "AddressConflict";
}  // namespace api::conditions
namespace api::reasons {
inline constexpr std::string_view kAddressHeldTwice = "AddressHeldTwice";  // AddressConflict
}  // namespace api::reasons

namespace controllers {

struct PoolObservation {
    const NodeSmithPool& object;
    ClaimPointers claims;
    const Nodes& nodes;
    const NodeSmithControlPlane* manager = nullptr;  // null: not managed
    const NodeSmithProvider* provider = nullptr;     // null: not there
    const NodeSmithPool* label_conflict = nullptr;   // the older pool with the same label
    std::vector<HostPointer> bare_metal;             // of its provider
    std::string claims_refused;     // what the API server says against its claims, if it does
    std::string address_conflicts;  // see conflicts_text()
};

// No claim has the bare-metal host, and one can.
bool is_free(const NodeSmithHost& host);

// The status as it should be now. Pure.
api::v1alpha1::PoolStatus next_status(const PoolObservation& facts, api::Time now);

// Whether machines of this pool have anything that would make them join: the condition ConfigurationValid,
// which is there only while they have not.
void judge_boot(const PoolObservation& facts, api::v1alpha1::PoolStatus& status, api::Time now);

// Consecutive failed claims and until when nothing is launched; a claim that became a Node ends the series.
// Counts each failure once, by its time.
void count_failures(const PoolObservation& facts, api::v1alpha1::PoolStatus& status);

// Why the last claim of the series failed, to be added to a sentence; empty: none of them is still there.
std::string last_failure(const ClaimPointers& claims);

}  // namespace controllers
