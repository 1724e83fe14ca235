#include "providers/proxmox/cluster/permissions.hpp"

#include <algorithm>

#include "providers/proxmox/config/vm_config.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

using Needs = std::vector<MissingPrivilege>;

bool is_cloud_init(const std::string& name) {
    return name.starts_with("ipconfig") || name.starts_with("ci") || name == "sshkeys" ||
           name == "nameserver" || name == "searchdomain";
}

void need_for_option(Needs& needs, const std::string& vms, const std::string& name,
                     const std::string& value) {
    if (is_cloud_init(name)) needs.push_back({vms, "VM.Config.Cloudinit"});
    if (name.starts_with("net")) needs.push_back({vms, "VM.Config.Network"});
    if (!is_drive(name)) return;
    const auto drive = PropertyString::parse(value);
    const bool is_cdrom = drive.find("media") == "cdrom";
    needs.push_back({vms, is_cdrom ? "VM.Config.CDROM" : "VM.Config.Disk"});
    if (const auto storage = storage_of_drive(value); !storage.empty() && !is_cdrom) {
        needs.push_back({"/storage/" + storage, "Datastore.AllocateSpace"});
    }
}

void need_for_boot_images(Needs& needs, const Settings& settings, const std::string& vms) {
    if (!settings.spec.cloudInit) return;
    needs.push_back({vms, "VM.Config.CDROM"});
    const auto& storage = settings.spec.cloudInit->isoStorage;
    if (storage.empty()) return;
    needs.push_back({"/storage/" + storage, "Datastore.Audit"});
    needs.push_back({"/storage/" + storage, "Datastore.AllocateTemplate"});  // upload
    needs.push_back({"/storage/" + storage, "Datastore.Allocate"});          // delete
}

void need_for_clones(Needs& needs, const Settings& settings, const std::string& vms,
                     const std::vector<Guest>& templates) {
    if (!settings.spec.template_) return;
    const auto& wish = *settings.spec.template_;
    for (const auto& source : templates) {
        needs.push_back({"/vms/" + std::to_string(source.vmid), "VM.Clone"});
    }
    if (wish.bootDisk.sizeGiB) needs.push_back({vms, "VM.Config.Disk"});
    if (!wish.storage.empty()) needs.push_back({"/storage/" + wish.storage, "Datastore.AllocateSpace"});
    if (settings.spec.cloudInit) needs.push_back({vms, "VM.Config.Cloudinit"});
}

Needs needs_of(const Settings& settings, int major_version, const std::vector<Guest>& templates) {
    const auto vms = vm_path(settings);
    Needs needs;
    for (const auto* privilege : {"VM.Allocate", "VM.Audit", "VM.Config.CPU", "VM.Config.HWType",
                                  "VM.Config.Memory", "VM.Config.Options", "VM.PowerMgmt"}) {
        needs.push_back({vms, privilege});
    }
    for (const auto& [name, value] : settings.vm_options) need_for_option(needs, vms, name, value);
    for (const auto& interface : settings.spec.networkInterfaces) {
        needs.push_back({vms, "VM.Config.Network"});
        if (major_version >= 8 && interface.bridge.starts_with("vmbr")) {
            needs.push_back({"/sdn/zones/localnetwork/" + interface.bridge, "SDN.Use"});
        }
    }
    need_for_boot_images(needs, settings, vms);
    need_for_clones(needs, settings, vms, templates);
    needs.push_back({"/nodes", "Sys.Audit"});  // sizes of hosts
    return needs;
}

}  // namespace

Permissions Permissions::parse(const json::value& data) {
    Permissions permissions;
    if (!data.is_object()) return permissions;
    for (const auto& [path, privileges] : data.get_object()) {
        auto& at_path = permissions.by_path_[std::string(path)];
        if (!privileges.is_object()) continue;
        for (const auto& [privilege, propagates] : privileges.get_object()) {
            at_path[std::string(privilege)] = text_of(propagates) == "1";
        }
    }
    return permissions;
}

bool Permissions::has(const std::string& path, const std::string& privilege) const {
    if (const auto exact = by_path_.find(path); exact != by_path_.end())
        return exact->second.contains(privilege);
    for (auto parent = path; parent != "/";) {
        const auto slash = parent.rfind('/');
        parent = slash == 0 || slash == std::string::npos ? "/" : parent.substr(0, slash);
        const auto found = by_path_.find(parent);
        if (found == by_path_.end()) continue;
        const auto held = found->second.find(privilege);
        return held != found->second.end() && held->second;
    }
    return false;
}

std::string vm_path(const Settings& settings) {
    return settings.spec.resourcePool.empty() ? "/vms" : "/pool/" + settings.spec.resourcePool;
}

std::vector<MissingPrivilege> missing_privileges(const Settings& settings, const Permissions& permissions,
                                                 int major_version, const std::vector<Guest>& templates) {
    std::vector<MissingPrivilege> missing;
    for (auto& need : needs_of(settings, major_version, templates)) {
        if (permissions.has(need.path, need.privilege)) continue;
        // Rights on all VMs serve a pool as well, and a template may be in the pool.
        const bool is_about_vms = need.path == vm_path(settings) || need.privilege == "VM.Clone";
        const bool has_elsewhere =
            permissions.has("/vms", need.privilege) || permissions.has(vm_path(settings), need.privilege);
        if (is_about_vms && has_elsewhere) continue;
        if (std::ranges::find(missing, need) == missing.end()) missing.push_back(std::move(need));
    }
    return missing;
}

std::vector<MissingPrivilege> missing_agent_privileges(const Settings& settings,
                                                       const Permissions& permissions) {
    const auto vms = vm_path(settings);
    const auto has = [&](const char* privilege) {
        return permissions.has(vms, privilege) || permissions.has("/vms", privilege);
    };
    std::vector<MissingPrivilege> missing;
    if (has("VM.Monitor")) return missing;
    for (const auto* privilege : {"VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted"}) {
        if (!has(privilege)) missing.push_back({vms, privilege});
    }
    return missing;
}

std::string list_text(const std::vector<MissingPrivilege>& missing) {
    std::string text;
    for (const auto& [path, privilege] : missing)
        text += (text.empty() ? "" : ", ") + privilege + " on " + path;
    return text;
}

}  // namespace providers::proxmox
