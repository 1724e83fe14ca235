// Access control: roles, privileges, paths, tokens with privilege separation.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

// Returns the privileges of a predefined or custom role; nullptr if there is no such role.
const std::set<std::string>* find_role(const World& world, const std::string& name);
// Returns the privileges by role, predefined roles first.
std::map<std::string, std::set<std::string>> all_roles(const World& world);
bool is_predefined_role(const std::string& name);

// Returns each privilege at one path with its flag "propagates". `who` is a user (name@realm) or a token
// (name@realm!id). A deeper ACL entry replaces inherited roles. A token with separation has the intersection
// of its own and its user's privileges. Members of a pool also have what the pool's ACL grants.
std::map<std::string, bool> permissions(const World& world, const std::string& who, const std::string& path);

bool has_any(const World& world, const std::string& who, const std::string& path,
             const std::vector<std::string_view>& privileges);
// Throws ApiError 403 with Proxmox' text "(/vms/101, A|B)" unless `who` has one of the privileges.
void require_any(const World& world, const std::string& who, const std::string& path,
                 const std::vector<std::string_view>& privileges);
void require(const World& world, const std::string& who, const std::string& path, std::string_view privilege);

}  // namespace proxmox_simulator
