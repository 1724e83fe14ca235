// Parameters of the calls that make a machine from a template: the clone, and the change of its
// configuration. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/url.hpp"
#include "providers/launch.hpp"
#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/config/vm_config.hpp"

namespace providers::proxmox {

enum class CloneKind { linked, full };

// Returns the parameters of POST /nodes/{source's}/qemu/{template}/clone. A clone has its template's tags and
// a UUID that Proxmox draws. So only its description identifies its owner until configure_parameters are
// applied.
struct CloneSource {
    std::string node;
    std::set<std::string> drives;  // drives that a clone copies: its record
};
base::FormFields clone_parameters(const Settings& settings, const MachineSpec& spec,
                                  const CloneSource& source, CloneKind kind);

// Returns the kind to try first. A storage that cannot link refuses the clone (is_link_refusal).
CloneKind preferred_kind(const api::v1alpha1::Template& wish);
bool is_link_refusal(const ProxmoxError& error);

// BootPlace says where the guest finds its boot data. At most one member is set.
struct BootPlace {
    std::string image;                        // volume of our uploaded image; empty: none
    std::string url;                          // URL that the guest fetches from; empty: none
    std::optional<GuestSettings> cloud_init;  // settings for Proxmox' own drive; nullopt: keep the template's
};
// Returns the parameters of PUT .../config for the clone `config`: size, tags, UUID, the user's options, and
// the boot data's place. The description is not among them: Proxmox writes options one by one in its own
// order, and the sign of completion must be written last. Throws ProviderError if no drive is free.
base::FormFields configure_parameters(const Settings& settings, const MachineSpec& spec,
                                      const VmConfig& config, const BootPlace& boot);

// Returns the same for a blank machine: only tags and the boot image (empty: none). Its creation set
// everything else.
base::FormFields finishing_parameters(const Settings& settings, const VmConfig& config,
                                      const std::string& image);

// Returns the size in GiB that the boot disk must grow to; nullopt if it need not grow.
std::optional<std::int64_t> wanted_disk_size(const Settings& settings, const VmConfig& config);

// Encodes keys as Proxmox expects them: one per line, the whole percent-encoded. A form encodes this once
// more.
std::string encode_ssh_keys(const std::vector<std::string>& keys);

}  // namespace providers::proxmox
