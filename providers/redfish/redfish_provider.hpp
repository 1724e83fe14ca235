// The Redfish backend: hosts behind BMCs that are turned on for claims.
#pragma once

#include <memory>

#include "providers/environment.hpp"
#include "providers/provider.hpp"

namespace providers::redfish {

// Throws like providers::make_provider. The environment must have hosts.
std::unique_ptr<Provider> make_redfish_provider(ProviderConfig config, ProviderEnvironment& environment);

}  // namespace providers::redfish
