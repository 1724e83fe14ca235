// Which machine takes the place of which, and why: what ends a series of replacements that do not help. A
// claim names in its annotations the one that it replaces; the pool's status remembers removed machines until
// a claim takes their place. Pure.
#pragma once

#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"

namespace controllers {

using api::v1alpha1::OpenReplacement;

// What a claim was created for, in place of another one. The cause is empty if it replaces none, or if a
// person has asked its pool for another try since.
struct Lineage {
    std::string replaces;
    std::string cause;
    std::int32_t count = 0;  // of replacements in a row for this cause, with this one
};
Lineage lineage_of(const NodeSmithClaim& claim, const NodeSmithPool& pool);

// A cause that shows again only after a machine has served for this long is a new one. A difference from the
// configuration, or an age that a machine has from the start, is the same whenever it shows.
inline constexpr auto kServedLong = std::chrono::hours{24};

// The machines of the pool that are being replaced, or were, and whose place no claim has taken yet, in the
// order in which that was decided. Those of more than an hour ago are forgotten.
std::vector<OpenReplacement> open_replacements(const NodeSmithPool& pool, const ClaimPointers& claims,
                                               api::Time now);

// The pool's memory when the claim is removed to be replaced. At most 16 are kept.
std::vector<OpenReplacement> with_removed(const NodeSmithPool& pool, const ClaimPointers& claims,
                                          const NodeSmithClaim& removed, api::Time now);

}  // namespace controllers
