// Rights to add tags to machines and to remove them. Besides a right on the machine, the datacenter's options
// user-tag-access and registered-tags decide.
#pragma once

#include <set>
#include <string>

#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

// Returns the tags in GET /cluster/options: those that exist or are listed. Other tags may be allowed as
// well.
std::set<std::string> allowed_tags(const World& world, const std::string& user);

// Throws 403 "(/vms/101, VM.Config.Options)", whatever pool the machine will join. Throws "(/, Sys.Modify for
// modifying tag 'x')" for a tag that is added or removed.
void require_tag_rights(const World& world, const std::string& user, int vmid, const std::string& old_tags,
                        const std::string& new_tags);

}  // namespace proxmox_simulator
