// What a new VM is made of, as the parameters of one call. Pure.
#pragma once

#include <map>
#include <string>

#include "base/url.hpp"
#include "providers/launch.hpp"
#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

// Parameters of POST /nodes/{host}/qemu for a blank VM: the user's options, then what is ours: vmid, name,
// tags (unless it is finished later), memory with overhead, cores, network interfaces, mark and SMBIOS UUID.
// The call that creates marks, so there is no moment at which a VM of ours is not known to be ours.
// `boot_url`: where its guest finds its boot data; empty: nowhere.
base::FormFields blank_vm_parameters(const Settings& settings, const MachineSpec& spec,
                                     const std::string& boot_url);

// The description of a machine that has all else that is its own: mark with the record of its volumes, then
// the user's lines.
std::string finished_description(const Settings& settings, const MachineIdentity& identity,
                                 const MadeVolumes& made);

// The tags of a machine that has `inherited`: these, the user's and ours.
std::string machine_tags(const Settings& settings, Tags inherited);

// The value of smbios1: `given` (the user's or the template's) with the machine's UUID, and with the serial
// number that cloud-init takes for the place of its boot data. Further values stay what the guest sees.
std::string smbios_values(const std::string& given, const std::string& system_uuid,
                          const std::string& boot_url);
// The guest was told where to fetch its boot data.
bool has_boot_url(const std::string& smbios1);

// Puts the machine's network interfaces into `options`: those of the settings, and MAC addresses into those
// that the options or the template (`inherited`) name. An interface whose MAC address nobody chose gets one
// that Proxmox draws. Throws ProviderError if there is no interface for a chosen address.
void set_network_interfaces(std::map<std::string, std::string>& options, const Settings& settings,
                            const MachineSpec& spec, const std::map<std::string, std::string>& inherited);
// Whether that changes an interface which comes from the template.
bool changes_inherited_interfaces(const Settings& settings, const MachineSpec& spec);

// The file name of a machine's boot image in a storage.
std::string boot_image_name(const MachineIdentity& identity);

}  // namespace providers::proxmox
