// Determines on which hosts of a provider machines failed recently. It reads the claims, so that all claims
// share the result and restarts keep it. Pure.
#pragma once

#include <map>
#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers::claim {

// Counts the provider's claims whose last failure was on a host within the last half hour. A machine that
// joined from that host since then shows that the host works.
std::map<std::string, int> recent_host_failures(const ClaimPointers& claims, const kube::ObjectKey& provider,
                                                api::Time now);

}  // namespace controllers::claim
