#include "test/simulators/proxmox/core/access.hpp"

#include <algorithm>

#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

using Privileges = std::set<std::string>;

// Proxmox builds its roles from groups of privileges at four levels, and so does this table.
constexpr std::string_view kVmUser =
    "VM.Audit VM.Backup VM.Config.CDROM VM.Config.Cloudinit VM.Console VM.GuestAgent.Audit "
    "VM.GuestAgent.FileRead "
    "VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite VM.PowerMgmt ";
constexpr std::string_view kVmAdmin =
    "VM.Allocate VM.Clone VM.Config.CPU VM.Config.Disk VM.Config.HWType VM.Config.Memory VM.Config.Network "
    "VM.Config.Options VM.GuestAgent.Unrestricted VM.Migrate VM.Replicate VM.Snapshot VM.Snapshot.Rollback ";
constexpr std::string_view kDatastoreUser = "Datastore.AllocateSpace Datastore.Audit ";
constexpr std::string_view kDatastoreAdmin = "Datastore.Allocate Datastore.AllocateTemplate ";
constexpr std::string_view kRest =
    "Group.Allocate Mapping.Audit Mapping.Use Pool.Allocate Pool.Audit Realm.AllocateUser SDN.Allocate "
    "SDN.Audit "
    "SDN.Use Sys.Audit Sys.Console Sys.Syslog User.Modify ";
constexpr std::string_view kRootOnly =
    "Mapping.Modify Permissions.Modify Realm.Allocate Sys.AccessNetwork Sys.Incoming Sys.Modify "
    "Sys.PowerMgmt ";

Privileges words(std::initializer_list<std::string_view> texts) {
    Privileges result;
    for (auto text : texts) {
        for (auto& word : split_list(text)) result.insert(std::move(word));
    }
    return result;
}

const std::map<std::string, Privileges>& predefined_roles() {
    static const std::map<std::string, Privileges> roles{
        {"Administrator", words({kVmUser, kVmAdmin, kDatastoreUser, kDatastoreAdmin, kRest, kRootOnly})},
        {"NoAccess", {}},
        {"PVEAdmin", words({kVmUser, kVmAdmin, kDatastoreUser, kDatastoreAdmin, kRest})},
        {"PVEAuditor",
         words(
             {"Datastore.Audit Mapping.Audit Pool.Audit SDN.Audit Sys.Audit VM.Audit VM.GuestAgent.Audit"})},
        {"PVEDatastoreAdmin", words({kDatastoreUser, kDatastoreAdmin})},
        {"PVEDatastoreUser", words({kDatastoreUser})},
        {"PVEMappingAdmin", words({"Mapping.Audit Mapping.Modify Mapping.Use"})},
        {"PVEMappingUser", words({"Mapping.Audit Mapping.Use"})},
        {"PVEPoolAdmin", words({"Pool.Allocate Pool.Audit"})},
        {"PVEPoolUser", words({"Pool.Audit"})},
        {"PVESDNAdmin", words({"SDN.Allocate SDN.Audit SDN.Use"})},
        {"PVESDNUser", words({"SDN.Audit SDN.Use"})},
        {"PVESysAdmin", words({"Sys.Audit Sys.Console Sys.Syslog"})},
        {"PVETemplateUser", words({"VM.Audit VM.Clone"})},
        {"PVEUserAdmin", words({"Group.Allocate Realm.AllocateUser User.Modify"})},
        {"PVEVMAdmin", words({kVmUser, kVmAdmin})},
        {"PVEVMUser", words({kVmUser})},
    };
    return roles;
}

// Roles maps a role to its flag "propagates".
using Roles = std::map<std::string, bool>;

Roles roles_at(const World& world, const std::string& who, const std::string& path) {
    Roles roles;
    std::vector<std::string> ancestors{"/"};
    if (path != "/") {
        for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
            ancestors.push_back(path.substr(0, slash));
            if (slash == std::string::npos) break;
        }
    }
    for (const auto& ancestor : ancestors) {
        Roles here;
        for (const auto& entry : world.acl) {
            if (entry.path != ancestor || entry.subject != who) continue;
            if (entry.propagate || ancestor == path) here[entry.role] = entry.propagate;
        }
        if (!here.empty()) roles = std::move(here);
    }
    if (roles.contains("NoAccess")) return {{"NoAccess", roles["NoAccess"]}};
    return roles;
}

std::string pool_path_of(const World& world, const std::string& path) {
    for (const auto& [id, pool] : world.pools) {
        for (int vmid : pool.vms) {
            if (path == "/vms/" + std::to_string(vmid)) return "/pool/" + id;
        }
        for (const auto& storage : pool.storages) {
            if (path == "/storage/" + storage) return "/pool/" + id;
        }
    }
    return {};
}

// Returns the roles at the path, including those from the resource pool of the object there.
Roles roles_on(const World& world, const std::string& who, const std::string& path) {
    auto roles = roles_at(world, who, path);
    auto pool = pool_path_of(world, path);
    if (!pool.empty() && !roles.contains("NoAccess")) {
        for (const auto& [role, propagate] : roles_at(world, who, pool)) roles.emplace(role, propagate);
    }
    return roles;
}

bool holds_itself(const World& world, const std::string& who, const std::string& path,
                  const std::string& privilege) {
    for (const auto& [role, propagate] : roles_on(world, who, path)) {
        const auto* privileges = find_role(world, role);
        if (privileges && privileges->contains(privilege)) return true;
    }
    return false;
}

// Gives the same result as a look-up in permissions().
bool holds(const World& world, const std::string& who, const std::string& path,
           const std::string& privilege) {
    auto mark = who.find('!');
    if (mark == std::string::npos) {
        if (who == "root@pam") return predefined_roles().at("Administrator").contains(privilege);
        return holds_itself(world, who, path, privilege);
    }
    auto token = world.tokens.find(who);
    return token != world.tokens.end() && holds(world, who.substr(0, mark), path, privilege) &&
           (!token->second.separated || holds_itself(world, who, path, privilege));
}

std::map<std::string, bool> own_permissions(const World& world, const std::string& who,
                                            const std::string& path) {
    std::map<std::string, bool> result;
    for (const auto& [role, propagate] : roles_on(world, who, path)) {
        if (const auto* privileges = find_role(world, role)) {
            for (const auto& privilege : *privileges) result[privilege] = result[privilege] || propagate;
        }
    }
    return result;
}

}  // namespace

bool is_predefined_role(const std::string& name) {
    return predefined_roles().contains(name);
}

const std::set<std::string>* find_role(const World& world, const std::string& name) {
    auto known = predefined_roles().find(name);
    if (known != predefined_roles().end()) return &known->second;
    auto custom = world.custom_roles.find(name);
    return custom == world.custom_roles.end() ? nullptr : &custom->second;
}

std::map<std::string, std::set<std::string>> all_roles(const World& world) {
    auto roles = predefined_roles();
    roles.insert(world.custom_roles.begin(), world.custom_roles.end());
    return roles;
}

std::map<std::string, bool> permissions(const World& world, const std::string& who, const std::string& path) {
    auto mark = who.find('!');
    if (mark == std::string::npos) {
        if (who != "root@pam") return own_permissions(world, who, path);
        std::map<std::string, bool> everything;
        for (const auto& privilege : predefined_roles().at("Administrator")) everything[privilege] = true;
        return everything;
    }
    auto token = world.tokens.find(who);
    if (token == world.tokens.end()) return {};
    auto of_user = permissions(world, who.substr(0, mark), path);
    if (!token->second.separated) return of_user;
    auto of_token = own_permissions(world, who, path);
    std::erase_if(of_token, [&](const auto& entry) { return !of_user.contains(entry.first); });
    return of_token;
}

bool has_any(const World& world, const std::string& who, const std::string& path,
             const std::vector<std::string_view>& privileges) {
    return std::ranges::any_of(privileges, [&](std::string_view privilege) {
        return holds(world, who, path, std::string(privilege));
    });
}

void require_any(const World& world, const std::string& who, const std::string& path,
                 const std::vector<std::string_view>& privileges) {
    if (has_any(world, who, path, privileges)) return;
    throw permission_denied(path + ", " + join({privileges.begin(), privileges.end()}, "|"));
}

void require(const World& world, const std::string& who, const std::string& path,
             std::string_view privilege) {
    require_any(world, who, path, {privilege});
}

}  // namespace proxmox_simulator
