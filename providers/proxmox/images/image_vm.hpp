// Parameters of the call that makes the VM for an image's template. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/url.hpp"
#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/config/settings.hpp"

namespace providers::proxmox {

// Returns the parameters of POST /nodes/{host}/qemu. `file` is the volume ID of the download; the VM's disk
// gets its content. `has_qcow2` is true if the template's storage keeps disks in files, where only qcow2
// allows linked clones.
base::FormFields image_vm_parameters(const Settings& settings, std::int64_t vmid, const std::string& file,
                                     bool has_qcow2);

// Returns the highest free VMID of the provider's own range, far from where machines get theirs. Without an
// own range it is the lowest free one within `range`, from 9000 on. It is never 9999. nullopt: all are taken.
std::optional<std::int64_t> image_vmid(const Settings& settings, const IDRange& range,
                                       const std::set<std::int64_t>& taken);

}  // namespace providers::proxmox
