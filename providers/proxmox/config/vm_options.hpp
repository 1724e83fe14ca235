// The options that users pass through to Proxmox, checked before the first call. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "api/v1alpha1/proxmox.hpp"
#include "base/url.hpp"

namespace providers::proxmox {

// Names known to POST /nodes/{node}/qemu (qemu-server 7.4 to 9.2); values as Proxmox' forms want them.
// Options that we set ourselves are dropped, as the Go project's manifests may carry them. Throws
// std::invalid_argument naming the option and what would be right.
base::FormFields checked_vm_options(const std::vector<api::v1alpha1::VMOption>& options);

// Throws std::invalid_argument.
void check_network_interfaces(const std::vector<api::v1alpha1::NetworkInterface>& interfaces);

// Whether Proxmox takes an option of that name when it creates a VM.
bool is_vm_option(std::string_view name);

}  // namespace providers::proxmox
