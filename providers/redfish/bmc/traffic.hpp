// What all BMCs of a provider share: the bound on calls in flight, a smaller one for slow and failing BMCs so
// that they cannot occupy it all, and the metrics.
#pragma once

#include <string>

#include "base/gate.hpp"
#include "providers/environment.hpp"

namespace providers::redfish {

// Most calls in flight to BMCs that are slow or fail.
inline constexpr std::size_t kSlowLane = 16;

struct Traffic {
    Traffic(std::string provider_name, std::size_t in_flight, ProviderEnvironment& environment_to_use);

    ProviderEnvironment& environment;
    std::string provider;
    base::Gate calls;
    base::Gate slow_calls;
    base::Family<base::Counter>& requests;
    base::Family<base::Histogram>& durations;
    base::Family<base::Counter>& retries;
};

}  // namespace providers::redfish
