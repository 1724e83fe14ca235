// The configuration of one VM as Proxmox keeps it, and whether it is ours. Pure.
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
    std::string lock() const;  // backup, clone, migrate, ... as it can be shown; empty: none
    bool is_template() const { return option("template") == "1"; }
    bool is_protected() const { return option("protection") == "1"; }
    bool starts_on_boot() const { return option("onboot") == "1"; }
    Tags tags() const { return parse_tags(option("tags")); }
    std::string system_uuid() const;  // lower case; empty: none
    std::int64_t cores() const;
    std::int64_t memory_mib() const;
};

// Of machines of ours that are off to stay: they take no room on their host.
inline constexpr const char* kSetAsideTag = "kubenodesmith-kept";
bool is_set_aside(const VmConfig& config);
// The next change on the way there, of one option: of several one may come no further than to wait, and shows
// as if it were set.
base::FormFields set_aside_change(const VmConfig& config);

// The change with the digest of the configuration that was read: Proxmox refuses it if anybody changed the VM
// since.
base::FormFields unless_changed(const VmConfig& read, base::FormFields change);

// Of GET /nodes/{node}/qemu/{vmid}/config.
VmConfig parse_vm_config(const boost::json::value& data);

// Whether an option of that name is a disk or a CD-ROM: scsi0, ide2, efidisk0.
bool is_drive(std::string_view option);
// "local" of "local:8,ssd=1" and "local:vm-105-disk-0,size=8G"; empty: none or no storage's.
std::string storage_of_drive(const std::string& drive);

enum class Ownership {
    ours,           // mark and UUID say so
    unfinished,     // made for this machine, not yet configured: its mark names it and its VMID
    half_made,      // locked while it is created or cloned, nothing that tells whose it is
    foreign,        // neither mark nor UUID name this machine
    contradictory,  // one of them does, the other does not: nobody may touch it
};
Ownership ownership_of(const VmConfig& config, std::int64_t vmid, const MachineIdentity& identity,
                       const std::string& managed_tag);
// What differs, for people; empty if it is ours.
std::string explain_ownership(const VmConfig& config, const MachineIdentity& identity,
                              const std::string& managed_tag);

// The CD-ROM drive that holds the volume ("storage:iso/<file>"): its name and volume ID.
struct CdromDrive {
    std::string drive;   // ide2
    std::string volume;  // local:iso/kubenodesmith-....iso
};
std::optional<CdromDrive> drive_with_file(const VmConfig& config, std::string_view file);
// A CD-ROM drive without a medium is there: ours after its image was ejected, or one of the user's.
bool has_empty_cdrom(const VmConfig& config);
// The drive that holds the data of Proxmox' own cloud-init ("storage:vm-105-cloudinit"); nullopt: none.
std::optional<CdromDrive> cloud_init_drive(const VmConfig& config);
// In GiB, rounded down; 0: there is no such disk, or it says none.
std::int64_t disk_size_gib(const VmConfig& config, const std::string& device);
// Of the disk that a VM with these options boots from, in GiB: the first in its boot order, else by name,
// that is about to be allocated ("local-lvm:32"); 0: it gets none.
std::int64_t new_boot_disk_gib(const std::map<std::string, std::string>& options);
// The name of a drive that can take a CD-ROM. ide2 first: what Proxmox itself uses, and present on q35
// machines. Throws ProviderError if none is free.
std::string free_cdrom_drive(const VmConfig& config);

}  // namespace providers::proxmox
