// The Proxmox VE backend. How it behaves in words: docs/proxmox.md.
#pragma once

#include <memory>

#include "providers/environment.hpp"
#include "providers/provider.hpp"

namespace providers::proxmox {

// Throws std::invalid_argument naming the field and what would be right. The environment must outlive the
// provider.
std::unique_ptr<Provider> make_proxmox_provider(ProviderConfig config, ProviderEnvironment& environment);

}  // namespace providers::proxmox
