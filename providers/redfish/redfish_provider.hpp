// The Redfish backend: hosts behind BMCs, woken for claims.
#pragma once

#include <memory>

#include "providers/environment.hpp"
#include "providers/provider.hpp"

namespace providers::redfish {

// Throws as providers::make_provider says. The environment must have hosts.
std::unique_ptr<Provider> make_redfish_provider(ProviderConfig config, ProviderEnvironment& environment);

}  // namespace providers::redfish
