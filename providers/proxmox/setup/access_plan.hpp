// The changes that give a token the rights of its machines, from what exists of users, roles and rights.
// Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "providers/proxmox/cluster/needed_rights.hpp"
#include "providers/proxmox_setup.hpp"

namespace providers::proxmox {

// AclEntry is a role that a user, group or token has on a path.
struct AclEntry {
    std::string path;
    std::string subject;
    std::string role;
    bool propagates = true;
};

struct AccessUser {
    bool is_enabled = true;
    std::map<std::string, bool> tokens;  // by name; true: with privilege separation
};

// AccessState is what exists of Proxmox' access control. An empty one describes a new installation.
struct AccessState {
    std::set<std::string> pools;
    std::map<std::string, AccessUser> users;
    std::map<std::string, std::set<std::string>> roles;  // privileges by name
    std::vector<AclEntry> acl;
    Permissions of_user;   // of the token's user
    Permissions of_token;  // of an existing token; equals of_user without privilege separation
    std::vector<TemplateParts> templates;  // those of the wish, as far as they were read
};

// Throws std::invalid_argument that names what is missing or impossible.
ProxmoxPlan access_plan(const ProxmoxSetup& wish, const AccessState& state);

// Returns "SUBJECT lacks ..." with the rights that an administrator needs for the steps; empty if none is
// missing.
std::string lacking_for(const ProxmoxPlan& plan, const std::string& administrator,
                        const Permissions& permissions);

}  // namespace providers::proxmox
