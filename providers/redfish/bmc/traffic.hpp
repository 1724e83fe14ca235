// State shared by all BMCs of a provider: the metrics and the limit of calls in flight. A smaller limit for
// slow and failing BMCs keeps them from using it up.
#pragma once

#include "api/resource.hpp"
#include "base/gate.hpp"
#include "providers/environment.hpp"

namespace providers::redfish {

// Limit of calls in flight to BMCs that are slow or fail.
inline constexpr std::size_t kSlowLane = 16;

struct Traffic {
    Traffic(api::ObjectKey provider_key, std::size_t in_flight, ProviderEnvironment& environment_to_use);

    ProviderEnvironment& environment;
    api::ObjectKey provider;
    base::Gate calls;
    base::Gate slow_calls;
    base::Family<base::Counter>& requests;
    base::Family<base::Histogram>& durations;
    base::Family<base::Counter>& retries;
};

}  // namespace providers::redfish
