// VMs that a worker was making (or destroying) when it died: locked, and without anything that tells whose
// they are. Pure.
#pragma once

#include <string>

#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

// The task of that UPID was ours and made, or would have made, the VM: a creation names its VMID, a clone its
// template's. `upid` is the one on record beside the VMID; may be empty.
bool began_creation(const std::string& upid, const std::string& user, std::int64_t vmid);

// The lock of a creation or of a clone.
bool is_creation_lock(const std::string& lock);

// The commands that take the lock off the VM and remove it, after those that show whose it is: nobody should
// destroy a VM by its number alone.
std::string unlock_and_destroy(const std::string& host, std::int64_t vmid);

// What a person has to do: neither may an API token take a lock off, nor remove what is locked. `is_ours`:
// proven, else whose it is has to be made sure of first.
std::string half_made_text(const Look& look, bool is_ours);

}  // namespace providers::proxmox
