// A claim keeps its place within the limits from its reservation to its end, and its machine may come long
// after: when a host has room again, or with another attempt. If a user lowers the limits meanwhile, the
// claims that go over them wait.
#pragma once

#include <optional>

#include "controllers/cache/informers.hpp"
#include "controllers/claim/decide/lifecycle.hpp"

namespace controllers::claim {

// Why no machine may be made for the admitted claim now; nullopt: none is missing, or it has its place still.
// Machines that are placed go first, then the older claims.
std::optional<Hold> limit_hold(const Informers& informers, const NodeSmithClaim& claim,
                               const NodeSmithPool& pool);

}  // namespace controllers::claim
