// Whether machines of a pool keep failing while they are made. Pure.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/state/pool_counts.hpp"

namespace controllers {

// So many failures in a row say that the next machine will most likely fail, too.
inline constexpr std::int32_t kRepeatedFailures = 3;

// Says that attempts of the pool's claims failed repeatedly and none has joined since, with the last cause;
// empty: they did not. A lack of room is no such failure.
std::string repeated_failures(const ClaimPointers& claims, const api::v1alpha1::PoolStatus& status);

}  // namespace controllers
