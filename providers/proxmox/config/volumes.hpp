// The volumes in a VM's configuration. Some of them Proxmox frees with the VM, and some of these were made
// for it. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/config/vm_config.hpp"

namespace providers::proxmox {

// VMID of the volumes of Sergey Logvinov's Proxmox CSI plugin, whichever VM uses them. No VM has it, and we
// never choose it.
inline constexpr std::int64_t kCsiOwner = 9999;

// Returns the VMID in a volume's name, e.g. 105 for "local:105/vm-105-disk-0.qcow2". nullopt: the name has no
// VMID, like files and devices.
std::optional<std::int64_t> owner_of_volume(std::string_view volume);

struct VolumeUse {
    std::string option;  // for example scsi1, unused0
    std::string volume;  // for example local-lvm:vm-105-disk-0
    bool operator==(const VolumeUse&) const = default;
};

// Returns every volume with a VMID in its name that the VM's options contain, from GET
// /nodes/{node}/qemu/{vmid}/pending. This includes pending additions and removals, which Proxmox frees as
// well. Disks used as a CD-ROM are excluded, as Proxmox keeps them; drives of Proxmox' cloud-init are
// included.
std::vector<VolumeUse> volume_uses(const boost::json::value& pending);
std::vector<VolumeUse> volume_uses(const VmConfig& config);

// Reports whether the value of a drive asks Proxmox to make a volume: "local-lvm:32", "local:cloudinit".
bool asks_for_new_volume(const std::string& drive);
// Returns the names of the drives that ask for a new volume.
std::set<std::string> new_drives(const base::FormFields& options);
// Returns the drives of a template that each clone copies.
std::set<std::string> copied_drives(const VmConfig& config);

// Returns the volumes whose VMID differs from the VM's. Proxmox does not free them.
std::vector<VolumeUse> volumes_of_others(const std::vector<VolumeUse>& uses, std::int64_t vmid);
// Returns the volumes with the VM's own VMID that are not known to be made with it. Proxmox would free them.
// Cloud-init drives and saved memory are generated from the VM and count as made.
std::vector<VolumeUse> unexplained_volumes(const std::vector<VolumeUse>& uses, std::int64_t vmid,
                                           const MadeVolumes& made);
// Returns the VM's own volumes that were made with it.
std::set<std::string> explained_volumes(const std::vector<VolumeUse>& uses, std::int64_t vmid,
                                        const MadeVolumes& made);

// Returns the drives that a VM without a record must have been made with: its boot drives and its firmware
// state.
std::set<std::string> essential_drives(const VmConfig& config);

// Returns "scsi1 local-lvm:vm-105-disk-3, unused0 ...", fit for a condition.
std::string described(const std::vector<VolumeUse>& uses);
// Returns why the VM is kept and what a person can do; `vm` is "VM 105 on pve1".
std::string unexplained_text(const std::string& vm, std::int64_t vmid, const std::vector<VolumeUse>& uses);

}  // namespace providers::proxmox
