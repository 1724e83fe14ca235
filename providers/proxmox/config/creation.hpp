// Parameters of the call that creates a VM. Pure.
#pragma once

#include <map>
#include <string>

#include "base/url.hpp"
#include "providers/launch.hpp"
#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

// Returns the parameters of POST /nodes/{host}/qemu for a blank VM. They are the user's options, then our
// own: vmid, name, tags (unless it is finished later), memory with overhead, cores, network interfaces, mark
// and SMBIOS UUID. The creating call also sets the mark, so our VM is identifiable from the start. `boot_url`
// says where the guest finds its boot data; empty: nowhere.
base::FormFields blank_vm_parameters(const Settings& settings, const MachineSpec& spec,
                                     const std::string& boot_url);

// Returns the description of a completely configured machine: the mark with the record of its volumes, then
// the user's lines.
std::string finished_description(const Settings& settings, const MachineIdentity& identity, std::int64_t vmid,
                                 const MadeVolumes& made);

// Returns the tags of a machine: the `inherited` ones, the user's and ours.
std::string machine_tags(const Settings& settings, Tags inherited);

// Returns the value of smbios1: `given` (the user's or the template's) with the machine's UUID and a new
// serial number. cloud-init reads the place of its boot data from the serial number. Other values are kept.
std::string smbios_values(const std::string& given, const std::string& system_uuid,
                          const std::string& boot_url);
// Reports whether the guest gets a URL of its boot data.
bool has_boot_url(const std::string& smbios1);

// Puts the machine's network interfaces into `options`. They are the interfaces of the settings, and MAC
// addresses for those of the options or the template (`inherited`). Proxmox draws the remaining MAC
// addresses. Throws ProviderError if a chosen address has no interface.
void set_network_interfaces(std::map<std::string, std::string>& options, const Settings& settings,
                            const MachineSpec& spec, const std::map<std::string, std::string>& inherited);
// Reports whether that changes an interface of the template.
bool changes_inherited_interfaces(const Settings& settings, const MachineSpec& spec);

// Returns the file name of a machine's boot image in a storage.
std::string boot_image_name(const MachineIdentity& identity);

}  // namespace providers::proxmox
