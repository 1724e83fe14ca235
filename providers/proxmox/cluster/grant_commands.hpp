// The commands by which an administrator of Proxmox gives a token what it lacks. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "providers/proxmox/cluster/needed_rights.hpp"

namespace providers::proxmox {

// Returns "pveum role add ... && pveum acl modify ...", a pair for each of the first paths; empty if nothing
// is missing. Rights on a deeper path replace those from above, so each role repeats what the token has
// there. `token` is user@realm!name. What no name in Proxmox could be gets into no command.
std::string grant_commands(const std::string& token, const Permissions& permissions,
                           const std::vector<MissingPrivilege>& missing);

// Nothing in it means anything to a shell.
bool is_plain(std::string_view text);
// The name of the role that holds the rights on a path: "KubeNodeSmith-pool-kubernetes".
std::string role_for(std::string path);

}  // namespace providers::proxmox
