// The volumes that a VM's configuration names: which of them Proxmox frees with the VM, and which of these
// were made for it. Pure.
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

// The VMID that belongs to the volumes of Sergey Logvinov's Proxmox CSI plugin, whichever VM uses them. No VM
// has it, and we never choose it.
inline constexpr std::int64_t kCsiOwner = 9999;

// The VMID that a volume's name holds: 105 of "local:105/vm-105-disk-0.qcow2". nullopt: it holds none, as
// files and devices.
std::optional<std::int64_t> owner_of_volume(std::string_view volume);

struct VolumeUse {
    std::string option;  // scsi1, unused0
    std::string volume;  // local-lvm:vm-105-disk-0
    bool operator==(const VolumeUse&) const = default;
};

// Every volume with a VMID in its name that the VM's options name, of GET /nodes/{node}/qemu/{vmid}/pending:
// also what waits to be set and what waits to be taken out, which Proxmox frees as well. Disks that stand as
// a CD-ROM are left out, as Proxmox leaves them; drives of its own cloud-init are not.
std::vector<VolumeUse> volume_uses(const boost::json::value& pending);
std::vector<VolumeUse> volume_uses(const VmConfig& config);

// Whether the value of a drive asks Proxmox to make a volume: "local-lvm:32", "local:cloudinit".
bool asks_for_new_volume(const std::string& drive);
// The drives among the options that ask for one, by name.
std::set<std::string> new_drives(const base::FormFields& options);
// The drives of a template of which each clone gets a copy.
std::set<std::string> copied_drives(const VmConfig& config);

// Volumes with another VMID than the VM's own. Proxmox does not free them.
std::vector<VolumeUse> volumes_of_others(const std::vector<VolumeUse>& uses, std::int64_t vmid);
// Volumes with the VM's own VMID that were not made with it, as far as is known: Proxmox would free them.
// Drives of cloud-init and saved memory are generated from the VM and count as made.
std::vector<VolumeUse> unexplained_volumes(const std::vector<VolumeUse>& uses, std::int64_t vmid,
                                           const MadeVolumes& made);
// Those of the VM's own volumes that were made with it.
std::set<std::string> explained_volumes(const std::vector<VolumeUse>& uses, std::int64_t vmid,
                                        const MadeVolumes& made);

// The drives that a VM without a record must have been made with: those it boots from, and what holds the
// state of its firmware.
std::set<std::string> essential_drives(const VmConfig& config);

// "scsi1 local-lvm:vm-105-disk-3, unused0 ...", fit for a condition.
std::string described(const std::vector<VolumeUse>& uses);
// Why the VM is kept, and what a person can do; `vm` is "VM 105 on pve1".
std::string unexplained_text(const std::string& vm, std::int64_t vmid, const std::vector<VolumeUse>& uses);

}  // namespace providers::proxmox
