// The options of a virtual machine's configuration: their declarations and who may change them.
#pragma once

#include <string_view>
#include <vector>

#include "test/simulators/proxmox/core/schema.hpp"

namespace proxmox_simulator {

const Schema& vm_options();

// ide, sata, scsi, virtio with a number in range; efidisk0 and tpmstate0 count as well.
bool is_drive(std::string_view option);
// The group of keys a drive option's value is made of.
std::string_view drive_group(std::string_view option);
// All drive options, in the order Proxmox lists them.
const std::vector<std::string>& drive_options();
bool is_network_interface(std::string_view option);
bool is_cloudinit_option(std::string_view option);
// Privileges of which any one allows to change the option; empty: only root@pam may. Drives are decided by
// what is in them, not here.
std::vector<std::string_view> option_privileges(std::string_view option);
// Takes effect on a running machine at once; all others wait in "pending" for the next start.
bool is_hotpluggable(std::string_view option);

}  // namespace proxmox_simulator
