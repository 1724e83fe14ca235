// A short text that identifies a template and its content. If it changes, new machines differ from old ones.
// Pure.
#pragma once

#include <string>

#include "providers/proxmox/config/vm_config.hpp"

namespace providers::proxmox {

// Returns, for example, "9000-3f6c0a9d1b2e": the VMID and a hash of what clones inherit. Disk locations and
// options that every machine sets itself are excluded. A change of this algorithm replaces every machine made
// from a template.
std::string template_revision(std::int64_t vmid, const VmConfig& config);

}  // namespace providers::proxmox
