// The configuration of one VM in Proxmox, and whether the VM is ours. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>

#include "base/url.hpp"
#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

struct VmConfig {
    std::map<std::string, std::string> options;  // ide0, memory, tags, ...; numbers as text

    std::string option(const std::string& name) const;  // empty: not set
    std::string lock() const;  // backup, clone, migrate, ..., fit to be shown; empty: no lock
    bool is_template() const { return option("template") == "1"; }
    // Reports whether the VM's memory is on a disk. It is off, and Proxmox starts and destroys it in spite of
    // that lock.
    bool is_suspended() const { return option("lock") == "suspended"; }
    bool is_protected() const { return option("protection") == "1"; }
    bool starts_on_boot() const { return option("onboot") == "1"; }
    Tags tags() const { return parse_tags(option("tags")); }
    std::string system_uuid() const;  // lower case; empty: no UUID
    std::int64_t cores() const;
    std::int64_t memory_mib() const;
};

// Tag of our machines that are off and kept. They use no memory or CPU of their host.
inline constexpr const char* kSetAsideTag = "kubenodesmith-kept";
bool is_set_aside(const VmConfig& config);
// Returns the next change towards that state. It has one option, because one of several could remain pending
// and still look as if it were set.
base::FormFields set_aside_change(const VmConfig& config);

// Adds the digest of `read` to the change. Proxmox then refuses the change if anybody changed the VM since.
base::FormFields unless_changed(const VmConfig& read, base::FormFields change);

// Parses GET /nodes/{node}/qemu/{vmid}/config.
VmConfig parse_vm_config(const boost::json::value& data);

// Reports whether nobody changed the VM between two looks at it. Its digest also covers pending changes.
inline bool is_same(const VmConfig& a, const VmConfig& b) {
    return a.options == b.options;
}

// Reports whether an option of that name is a disk or a CD-ROM: scsi0, ide2, efidisk0.
bool is_drive(std::string_view option);
// Returns the storage, e.g. "local" for "local:8,ssd=1" and "local:vm-105-disk-0,size=8G". Empty: no drive,
// or not on a storage.
std::string storage_of_drive(const std::string& drive);

enum class Ownership {
    ours,           // mark and UUID identify this machine
    unfinished,     // made for this machine, not yet configured: its mark has this identity and VMID
    half_made,      // locked while it is created or cloned, without an identity
    foreign,        // neither mark nor UUID name this machine
    contradictory,  // only a part of them names this machine, or it is a copy of it: do not touch it
};
Ownership ownership_of(const VmConfig& config, std::int64_t vmid, const MachineIdentity& identity,
                       const std::string& managed_tag);
// Returns the differences, for people. It is empty if the VM is ours.
std::string explain_ownership(const VmConfig& config, std::int64_t vmid, const MachineIdentity& identity,
                              const std::string& managed_tag);

// CdromDrive is a CD-ROM drive with its volume ("storage:iso/<file>").
struct CdromDrive {
    std::string drive;   // for example ide2
    std::string volume;  // local:iso/kubenodesmith-....iso
};
std::optional<CdromDrive> drive_with_file(const VmConfig& config, std::string_view file);
// Reports whether a CD-ROM drive has no medium. It is ours after its image was ejected, or the user's.
bool has_empty_cdrom(const VmConfig& config);
// Returns the drive of Proxmox' own cloud-init data ("storage:vm-105-cloudinit"); nullopt: none.
std::optional<CdromDrive> cloud_init_drive(const VmConfig& config);
// Returns the size in GiB, rounded down; 0: no such disk, or no size.
std::int64_t disk_size_gib(const VmConfig& config, const std::string& device);
// Returns the size in GiB of the new boot disk of a VM with these options ("local-lvm:32"). The boot disk is
// the first in the boot order, else by name. 0: no new boot disk.
std::int64_t new_boot_disk_gib(const std::map<std::string, std::string>& options);
// Returns the name of a drive that can take a CD-ROM. ide2 comes first, as Proxmox itself uses it and q35
// machines have it. Throws ProviderError if no drive is free.
std::string free_cdrom_drive(const VmConfig& config);

}  // namespace providers::proxmox
