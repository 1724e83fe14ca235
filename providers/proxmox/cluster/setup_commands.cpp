// The rights are those that the operator later looks for (needed_rights.hpp), for settings like the wish.
#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "base/text.hpp"
#include "providers/proxmox/cluster/grant_commands.hpp"
#include "providers/proxmox/cluster/needed_rights.hpp"
#include "providers/proxmox_setup.hpp"

namespace providers::proxmox {
namespace {

void check_name(const std::string& what, const std::string& name) {
    if (name.empty()) throw std::invalid_argument(what + " is missing");
    if (name.starts_with('-') || !is_plain(name))
        throw std::invalid_argument(what + " \"" + name + "\" is no name in Proxmox");
}

void check(const ProxmoxSetup& wish) {
    check_name("the user", wish.user);
    if (wish.user.find('@') == std::string::npos)
        throw std::invalid_argument("the user \"" + wish.user + "\" names no realm: give one such as " +
                                    wish.user + "@pve");
    check_name("the token", wish.token);
    if (!wish.resource_pool.empty()) check_name("the resource pool", wish.resource_pool);
    for (const auto& name : wish.disk_storages) check_name("a storage", name);
    for (const auto& name : wish.image_storages) check_name("a storage", name);
    for (const auto& name : wish.download_storages) check_name("a storage", name);
    for (const auto& name : wish.bridges) check_name("a bridge", name);
    if (wish.disk_storages.empty())
        throw std::invalid_argument("no storage for the disks of machines is named");
    if (wish.templates.empty() && wish.download_storages.empty())
        throw std::invalid_argument(
            "machines are cloned: name a template, or the storage that images are downloaded to");
}

Settings settings_of(const ProxmoxSetup& wish) {
    Settings settings;
    auto& spec = settings.spec;
    spec.resourcePool = wish.resource_pool;
    for (const auto& bridge : wish.bridges) {
        auto& interface = spec.networkInterfaces.emplace_back();
        interface.name = "net" + std::to_string(spec.networkInterfaces.size() - 1);
        interface.bridge = bridge;
    }
    auto& source = spec.template_.emplace();
    source.storage = wish.disk_storages.front();
    source.bootDisk.sizeGiB = 1;
    if (!wish.download_storages.empty()) source.image.emplace().storage = wish.disk_storages.front();
    spec.cloudInit.emplace();
    return settings;
}

std::vector<MissingPrivilege> rights_for(const ProxmoxSetup& wish) {
    auto settings = settings_of(wish);
    const Permissions none;
    Surroundings surroundings;
    surroundings.major_version = static_cast<int>(wish.major_version);
    for (const auto vmid : wish.templates) {
        auto& parts = surroundings.templates.emplace_back();
        parts.vmid = vmid;
        parts.disk_storages.insert(wish.disk_storages.begin(), wish.disk_storages.end());
    }
    surroundings.download_storages.insert(wish.download_storages.begin(), wish.download_storages.end());
    std::vector<MissingPrivilege> all;
    const auto add = [&all](const std::vector<MissingPrivilege>& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    for (const auto& storage : wish.disk_storages) {
        settings.spec.template_->storage = storage;
        add(missing_privileges(settings, none, surroundings));
    }
    for (const auto vmid : wish.templates)
        all.push_back({"/vms/" + std::to_string(vmid), "VM.Audit", "to find the template"});
    for (const auto& storage : wish.image_storages) add(missing_image_privileges(settings, none, storage));
    if (!wish.through_guest_agent) return all;
    if (wish.major_version < 9)
        all.push_back({vm_path(settings), "VM.Monitor", "to join machines through their guest agents"});
    else
        add(missing_agent_privileges(settings, none));
    return all;
}

}  // namespace
}  // namespace providers::proxmox

namespace providers {

std::string proxmox_setup_commands(const ProxmoxSetup& wish) {
    using namespace proxmox;
    check(wish);
    struct Grant {
        std::set<std::string> privileges;
        std::set<std::string> purposes;
    };
    std::map<std::string, Grant> by_path;
    for (const auto& right : rights_for(wish)) {
        by_path[right.path].privileges.insert(right.privilege);
        by_path[right.path].purposes.insert(right.purpose);
    }
    std::string text = "# As root on a host of the Proxmox cluster.\n";
    if (!wish.resource_pool.empty()) text += "pveum pool add " + wish.resource_pool + "\n";
    text += "pveum user add " + wish.user + "\n";
    for (const auto& [path, grant] : by_path) {
        const auto role = role_for(path);
        text += "\n# On " + path + ": " + base::joined(grant.purposes) + ".\n";
        text += "pveum role add " + role + " -privs '" + base::joined(grant.privileges, " ") + "'\n";
        text += "pveum acl modify " + path + " --roles " + role + " --users " + wish.user + "\n";
    }
    return text +
           "\n# The token has the rights of its user. Its secret is shown this one time.\n"
           "pveum user token add " +
           wish.user + " " + wish.token + " --privsep 0\n";
}

}  // namespace providers
