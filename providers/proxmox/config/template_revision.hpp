// Which template this is and what it holds, as a short text: another text, and machines made from it would be
// others. Pure.
#pragma once

#include <string>

#include "providers/proxmox/config/vm_config.hpp"

namespace providers::proxmox {

// "9000-3f6c0a9d1b2e": the VMID and a hash of what clones inherit. Where a disk lies, and what every machine
// has of its own, is left out. Changing how it is made replaces every machine that came from a template.
std::string template_revision(std::int64_t vmid, const VmConfig& config);

}  // namespace providers::proxmox
