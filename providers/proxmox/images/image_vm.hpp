// The VM that becomes a template of the image, as the parameters of the call that makes it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/url.hpp"
#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/config/settings.hpp"

namespace providers::proxmox {

// Of POST /nodes/{host}/qemu. `file`: the volume ID of what was downloaded, whose content its disk gets.
// `has_qcow2`: the template's storage keeps disks in files, of which only qcow2 can have linked clones.
base::FormFields image_vm_parameters(const Settings& settings, std::int64_t vmid, const std::string& file,
                                     bool has_qcow2);

// The highest that is free of the provider's own range, away from where machines get theirs; else the lowest
// free one from 9000 on within `range`; never 9999. nullopt: all are taken.
std::optional<std::int64_t> image_vmid(const Settings& settings, const IDRange& range,
                                       const std::set<std::int64_t>& taken);

}  // namespace providers::proxmox
