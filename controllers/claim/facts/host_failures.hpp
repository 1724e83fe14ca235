// Determines on which hosts of a provider machines failed recently. It reads the claims, so that all claims
// share the result and restarts keep it. Pure.
#pragma once

#include <map>
#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers::claim {

// Counts, for each host, the provider's claims that it failed and whose last failure, on any host, was within
// the last half hour. A machine that joined from the host since then shows that the host works.
std::map<std::string, int> recent_host_failures(const ClaimPointers& claims, const kube::ObjectKey& provider,
                                                api::Time now);

}  // namespace controllers::claim
