// How a machine comes out of a template, as the parameters of calls: the clone, and the change that makes it
// what it is to be. Pure.
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

// Parameters of POST /nodes/{source's}/qemu/{template}/clone. A clone has its template's tags and a UUID that
// Proxmox draws, so the description alone says whose it is until configure_parameters were set.
struct CloneSource {
    std::string node;
    std::set<std::string> drives;  // of which a clone gets copies: its record
};
base::FormFields clone_parameters(const Settings& settings, const MachineSpec& spec,
                                  const CloneSource& source, CloneKind kind);

// What is to be tried first; a storage that cannot link is found out by its refusal (is_link_refusal).
CloneKind preferred_kind(const api::v1alpha1::Template& wish);
bool is_link_refusal(const ProxmoxError& error);

// Where the guest shall find its boot data: at most one of them.
struct BootPlace {
    std::string image;                        // volume of our image, already uploaded; empty: none
    std::string url;                          // it fetches them there; empty: none
    std::optional<GuestSettings> cloud_init;  // for Proxmox' own drive; nullopt: it stays as in the template
};
// Parameters of PUT .../config for the clone `config`: size, tags, UUID, the user's options, and the boot
// data's place; all but the description, for Proxmox writes options one by one in an order of its own, and
// what says that a machine has all of them must not be written before the last. Throws ProviderError if no
// drive is free.
base::FormFields configure_parameters(const Settings& settings, const MachineSpec& spec,
                                      const VmConfig& config, const BootPlace& boot);

// The same for a blank machine, which has all else since its creation: tags, and the boot image (empty:
// none).
base::FormFields finishing_parameters(const Settings& settings, const VmConfig& config,
                                      const std::string& image);

// The size in GiB that the boot disk is to be enlarged to; nullopt: it is large enough, or none is wanted.
std::optional<std::int64_t> wanted_disk_size(const Settings& settings, const VmConfig& config);

// As Proxmox takes keys: one per line, percent-encoded as a whole (a form encodes that once more).
std::string encode_ssh_keys(const std::vector<std::string>& keys);

}  // namespace providers::proxmox
