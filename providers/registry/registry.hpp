// Makes a backend of any type.
#pragma once

#include <memory>

#include "providers/environment.hpp"
#include "providers/provider.hpp"

namespace providers {

// Throws std::invalid_argument with the field and its correction, or CredentialsError for a key of the
// Secret.
std::unique_ptr<Provider> make_provider(ProviderConfig config, ProviderEnvironment& environment);

}  // namespace providers
