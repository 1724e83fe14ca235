// Detects pools whose machines repeatedly fail while they are being created. Pure.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers {

// After this many failures in a row the next machine will most likely fail too.
inline constexpr std::int32_t kRepeatedFailures = 3;

// Returns a text if attempts of the pool's claims failed repeatedly and none has joined since, with the last
// cause; empty: they did not. A lack of room does not count.
std::string repeated_failures(const ClaimPointers& claims, const api::v1alpha1::PoolStatus& status);

}  // namespace controllers
