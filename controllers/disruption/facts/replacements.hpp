// Tracks which machine replaces which, and why, so that a series of useless replacements ends. A
// claim's annotations name the machine that it replaces. The pool's status remembers removed machines
// until a claim takes their place. Pure.
#pragma once

#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"

namespace controllers {

using api::v1alpha1::OpenReplacement;

// Lineage describes the replacement that a claim was created for. The cause is empty if it replaces none, or
// if a person has since asked its pool to try again.
struct Lineage {
    std::string replaces;
    std::string cause;
    std::int32_t count = 0;  // replacements in a row for this cause, including this one
};
Lineage lineage_of(const NodeSmithClaim& claim, const NodeSmithPool& pool);

// A cause counts as new if it returns only after a machine has served this long. Drift, and an age that a
// machine has from the start, count as the same whenever they return.
inline constexpr auto kServedLong = std::chrono::hours{24};

// Returns the pool's replaced machines whose place no claim has taken yet, in the order of the decisions.
// They are forgotten after an hour.
std::vector<OpenReplacement> open_replacements(const NodeSmithPool& pool, const ClaimPointers& claims,
                                               api::Time now);

// Returns the pool's record after a claim is removed to be replaced. At most 16 are kept.
std::vector<OpenReplacement> with_removed(const NodeSmithPool& pool, const ClaimPointers& claims,
                                          const NodeSmithClaim& removed, api::Time now);

}  // namespace controllers
