// Commands that an administrator of Proxmox runs to give a token its missing rights. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "providers/proxmox/cluster/needed_rights.hpp"

namespace providers::proxmox {

// Returns "pveum role add ...; pveum role modify ... && pveum acl modify ...", one pair for each of the first
// paths. It is empty if no right is missing. Rights on a deeper path replace inherited rights, so each role
// repeats the token's rights there, and no other user may get it. `token` is user@realm!name, or a user. Text
// that cannot be a Proxmox name never gets into a command.
std::string grant_commands(const std::string& token, const Permissions& permissions,
                           const std::vector<MissingPrivilege>& missing);

// Reports whether the text has no characters that are special to a shell.
bool is_plain(std::string_view text);
// Returns the name of the role for this text, such as a path: "KubeNodeSmith-pool-kubernetes".
std::string role_for(std::string text);

}  // namespace providers::proxmox
