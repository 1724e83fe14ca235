// The options of a virtual machine's configuration: their declarations, and who may change them.
#pragma once

#include <string_view>
#include <vector>

#include "test/simulators/proxmox/core/schema.hpp"

namespace proxmox_simulator {

const Schema& vm_options();

// Reports whether the option is ide, sata, scsi or virtio with a number in range. efidisk0 and tpmstate0
// count as well.
bool is_drive(std::string_view option);
// Returns the group of keys that a drive option's value consists of.
std::string_view drive_group(std::string_view option);
// Returns all drive options, in the order in which Proxmox lists them.
const std::vector<std::string>& drive_options();
bool is_network_interface(std::string_view option);
bool is_cloudinit_option(std::string_view option);
// Returns the privileges, any one of which suffices to change the option; empty: only root@pam may. The
// rights on a drive depend on its content and are checked elsewhere.
std::vector<std::string_view> option_privileges(std::string_view option);
// Reports whether the option takes effect on a running machine immediately. All others wait in "pending" for
// the next start.
bool is_hotpluggable(std::string_view option);

}  // namespace proxmox_simulator
