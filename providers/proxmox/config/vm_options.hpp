// Options that users pass through to Proxmox. They are checked before the first call. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "api/v1alpha1/proxmox.hpp"
#include "base/url.hpp"

namespace providers::proxmox {

// Returns options that POST /nodes/{node}/qemu knows (qemu-server 7.4 to 9.2), encoded for Proxmox' forms.
// Drops options that we set ourselves, as manifests of the Go project may contain them. Throws
// std::invalid_argument with the option and its correction.
base::FormFields checked_vm_options(const std::vector<api::v1alpha1::VMOption>& options);

// Throws std::invalid_argument.
void check_network_interfaces(const std::vector<api::v1alpha1::NetworkInterface>& interfaces);

// Reports whether Proxmox accepts an option of that name when it creates a VM.
bool is_vm_option(std::string_view name);

}  // namespace providers::proxmox
