// The Proxmox VE backend; docs/proxmox.md describes its behaviour.
#pragma once

#include <memory>

#include "providers/environment.hpp"
#include "providers/provider.hpp"

namespace providers::proxmox {

// Throws std::invalid_argument with the field and its correction. The environment must outlive the provider.
std::unique_ptr<Provider> make_proxmox_provider(ProviderConfig config, ProviderEnvironment& environment);

}  // namespace providers::proxmox
