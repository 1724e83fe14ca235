// VMs whose worker died while it made or destroyed them. They are locked and have no data that identify their
// owner. Pure.
#pragma once

#include <string>

#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

// Reports whether the task of that UPID was ours and made, or tried to make, the VM. A creation names its
// VMID, a clone its template's. `upid` is recorded beside the VMID; may be empty.
bool began_creation(const std::string& upid, const std::string& user, std::int64_t vmid);

// Reports whether the lock is that of a creation or a clone.
bool is_creation_lock(const std::string& lock);

// Returns what a person can do about a lock that may be of a dead task.
std::string stale_lock_hint(std::int64_t vmid);

// Returns commands that unlock and remove the VM. Commands that show its owner come first, as a number alone
// does not identify a VM.
std::string unlock_and_destroy(const std::string& host, std::int64_t vmid);

// Returns what a person must do, as no API token can remove a lock or a locked VM. `is_ours` is true if it is
// proven; otherwise the person must first find the owner.
std::string half_made_text(const Look& look, bool is_ours);

}  // namespace providers::proxmox
