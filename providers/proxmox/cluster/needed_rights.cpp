#include "providers/proxmox/cluster/needed_rights.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "providers/proxmox/cluster/grant_commands.hpp"
#include "providers/proxmox/config/creation.hpp"
#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

struct Need {
    MissingPrivilege right;
    std::vector<std::string> also_on;  // paths on which the privilege also suffices
};

constexpr const char* kDisks = "to allocate disks";
constexpr const char* kConnect = "to connect machines to it";
constexpr const char* kImages = "to put boot images in and take them out";

bool is_cloud_init(const std::string& name) {
    return name.starts_with("ipconfig") || name.starts_with("ci") || name == "sshkeys" ||
           name == "nameserver" || name == "searchdomain";
}

std::set<std::string> tags_of_list(const json::object& options, std::string_view key) {
    const auto* list = options.if_contains(key);
    if (!list) return {};
    if (!list->is_array()) return parse_tags(text_of(*list));
    std::set<std::string> tags;
    for (const auto& tag : list->get_array()) tags.merge(parse_tags(text_of(tag)));
    return tags;
}

// Needs collects the needed privileges, each once.
class Needs {
public:
    Needs(const Settings& settings, int major_version)
        : vms_(vm_path(settings)), has_sdn_(major_version == 0 || major_version >= 8) {}

    void on_vms(const std::string& privilege, const std::string& purpose) {
        add({{vms_, privilege, purpose}, {"/vms"}});
    }
    void on_storage(const std::string& storage, const std::string& privilege, const std::string& purpose) {
        add({{"/storage/" + storage, privilege, purpose}, {}});
    }
    // Adds the right to use a bridge. A VNet is below a zone, whose name is not visible.
    void on_bridge(const std::string& net) {
        const auto value = PropertyString::parse(net);
        const auto bridge = value.find("bridge").value_or("");
        if (!has_sdn_ || bridge.empty()) return;
        const auto path = "/sdn/zones/localnetwork/" + bridge;
        const auto vlan = value.find("tag").value_or("");
        Need need{{path, "SDN.Use", kConnect}, {}};
        if (!vlan.empty()) need.also_on.push_back(path + "/" + vlan);
        if (!bridge.starts_with("vmbr")) need.also_on.push_back("/sdn/zones");
        add(std::move(need));
    }
    void add(Need need) {
        const auto is_known = std::ranges::any_of(all_, [&](const Need& known) {
            return known.right.path == need.right.path && known.right.privilege == need.right.privilege;
        });
        if (!is_known) all_.push_back(std::move(need));
    }

    std::vector<MissingPrivilege> missing(const Permissions& permissions) const {
        std::vector<MissingPrivilege> missing;
        for (const auto& [right, also_on] : all_) {
            const auto& privilege = right.privilege;
            const bool has_elsewhere = std::ranges::any_of(also_on, [&](const std::string& path) {
                return path == "/sdn/zones" ? permissions.has_below(path, privilege)
                                            : permissions.has(path, privilege);
            });
            if (!has_elsewhere && !permissions.has(right.path, privilege)) missing.push_back(right);
        }
        return missing;
    }

private:
    std::string vms_;
    bool has_sdn_;
    std::vector<Need> all_;
};

void need_for_drive(Needs& needs, const std::string& value) {
    const auto drive = PropertyString::parse(value);
    const auto volume = drive.find_or_default("file").value_or("");
    const bool is_cloud_init_drive = volume.ends_with(":cloudinit");
    const bool is_cdrom = is_cloud_init_drive || drive.find("media") == "cdrom";
    needs.on_vms(is_cdrom ? "VM.Config.CDROM" : "VM.Config.Disk", "for drives in vmOptions");
    if (is_cloud_init_drive) needs.on_vms("VM.Config.Cloudinit", "for a cloud-init drive in vmOptions");
    const auto storage = storage_of_drive(value);
    if (!storage.empty() && !is_cdrom) needs.on_storage(storage, "Datastore.AllocateSpace", kDisks);
    if (!storage.empty() && is_cdrom && !is_cloud_init_drive)
        needs.on_storage(storage, "Datastore.Audit", "to use its ISO images");
}

// Adds the right to use a device of the host that is mapped for the whole cluster.
void need_for_mapping(Needs& needs, const std::string& name, const std::string& value) {
    const auto kind = name.starts_with("hostpci") ? "pci" : name.starts_with("usb") ? "usb" : "";
    const auto mapping = PropertyString::parse(value).find("mapping").value_or("");
    if (*kind && !mapping.empty())
        needs.add({{std::string("/mapping/") + kind + "/" + mapping, "Mapping.Use",
                    "for " + name + " in vmOptions"},
                   {}});
}

void need_for_options(Needs& needs, const Settings& settings) {
    for (const auto& [name, value] : settings.vm_options) {
        if (is_cloud_init(name)) needs.on_vms("VM.Config.Cloudinit", "for cloud-init options in vmOptions");
        if (name.starts_with("net")) {
            needs.on_vms("VM.Config.Network", "for network interfaces");
            needs.on_bridge(value);
        }
        if (name == "boot" || name == "bootdisk")
            needs.on_vms("VM.Config.Disk", "for the boot order in vmOptions");
        if (is_drive(name)) need_for_drive(needs, value);
        if (name == "startup") needs.add({{"/", "Sys.Modify", "for startup in vmOptions"}, {}});
        need_for_mapping(needs, name, value);
    }
    for (const auto& interface : settings.spec.networkInterfaces) {
        needs.on_vms("VM.Config.Network", "for network interfaces");
        auto net = "bridge=" + interface.bridge;
        if (interface.vlanTag) net += ",tag=" + std::to_string(*interface.vlanTag);
        needs.on_bridge(net);
    }
}

void need_for_clones(Needs& needs, const Settings& settings, const std::vector<TemplateParts>& templates) {
    if (!settings.spec.template_) return;
    const auto& wish = *settings.spec.template_;
    for (const auto& source : templates) {
        // The template may be in the resource pool.
        needs.add({{"/vms/" + std::to_string(source.vmid), "VM.Clone", "to clone the template"},
                   {vm_path(settings)}});
        for (const auto& net : source.interfaces) needs.on_bridge(net);
        if (!wish.storage.empty()) continue;
        for (const auto& storage : source.disk_storages)
            needs.on_storage(storage, "Datastore.AllocateSpace", "to clone the template's disks");
    }
    if (!wish.storage.empty()) needs.on_storage(wish.storage, "Datastore.AllocateSpace", kDisks);
    if (wish.bootDisk.sizeGiB) needs.on_vms("VM.Config.Disk", "to enlarge the boot disk");
    if (settings.spec.cloudInit) needs.on_vms("VM.Config.Cloudinit", "to fill the cloud-init drive");
    const bool lacks_drive = std::ranges::any_of(
        templates, [](const TemplateParts& source) { return !source.has_cloud_init_drive; });
    if (settings.spec.cloudInit && lacks_drive)
        needs.on_vms("VM.Config.CDROM", "to add a cloud-init drive, which the template lacks");
}

// Adds the rights to let a host download from the network. Proxmox accepts Sys.AccessNetwork on the host, or
// Sys.Audit and Sys.Modify on /.
void need_network_access(Needs& needs, const Permissions& permissions,
                         const std::vector<std::string>& hosts) {
    constexpr const char* kPrivilege = "Sys.AccessNetwork";
    constexpr const char* kPurpose = "to download the image";
    if (permissions.has("/", "Sys.Audit") && permissions.has("/", "Sys.Modify")) return;
    const auto may = [&](const std::string& host) { return permissions.has("/nodes/" + host, kPrivilege); };
    if (std::ranges::none_of(hosts, may)) needs.add({{"/nodes", kPrivilege, kPurpose}, {}});
    for (const auto& host : hosts)
        if (std::ranges::any_of(hosts, may)) needs.add({{"/nodes/" + host, kPrivilege, kPurpose}, {}});
}

void need_for_image(Needs& needs, const Settings& settings, const Permissions& permissions,
                    const Surroundings& surroundings) {
    const auto* image = settings.template_image();
    if (!image) return;
    needs.on_vms("VM.Clone", "to clone the image's template");
    needs.on_vms("VM.Config.Disk", "for the template's disk");
    if (settings.spec.networkInterfaces.empty()) {
        needs.on_vms("VM.Config.Network", "for the template's network interface");
        needs.on_bridge("virtio,bridge=vmbr0");
    }
    needs.on_storage(image->storage, "Datastore.AllocateSpace", "for the template's disk");
    needs.on_storage(image->storage, "Datastore.Audit", "to see whether hosts share it");
    for (const auto& storage : surroundings.download_storages)
        for (const auto* privilege : {"Datastore.Audit", "Datastore.AllocateTemplate", "Datastore.Allocate"})
            needs.on_storage(storage, privilege, "to download the image and to delete it again");
    need_network_access(needs, permissions, surroundings.hosts);
}

void need_for_tags(Needs& needs, const Settings& settings, const Surroundings& surroundings) {
    auto changed = parse_tags(machine_tags(settings, {}));
    for (const auto& source : surroundings.templates) {
        for (const auto& tag : source.tags) changed.erase(tag);
        for (const auto& tag : settings.spec.template_->matchTags) changed.merge(parse_tags(tag));
    }
    for (const auto& tag : changed) {
        if (surroundings.tags.allows(tag)) continue;
        needs.add({{"/", "Sys.Modify",
                    "or the tag " + tag +
                        " in the datacenter's option user-tag-access, to give it to "
                        "machines or take it away"},
                   {}});
    }
}

}  // namespace

TemplateParts parts_of_template(std::int64_t vmid, const VmConfig& config) {
    TemplateParts parts;
    parts.vmid = vmid;
    parts.tags = config.tags();
    parts.drives = copied_drives(config);
    parts.has_cloud_init_drive = cloud_init_drive(config).has_value();
    for (const auto& [name, value] : config.options) {
        const bool is_cdrom = PropertyString::parse(value).find("media") == "cdrom";
        if (is_drive(name) && !is_cdrom) parts.disk_storages.insert(storage_of_drive(value));
        if (name.starts_with("net")) parts.interfaces.insert(value);
    }
    parts.disk_storages.erase("");
    return parts;
}

TagRules TagRules::parse(const json::value& options) {
    TagRules rules;
    if (!options.is_object()) return rules;
    const auto& fields = options.get_object();
    rules.allowed = tags_of_list(fields, "allowed-tags");
    rules.registered = tags_of_list(fields, "registered-tags");
    const auto* access = fields.if_contains("user-tag-access");
    if (access && access->is_object()) {
        rules.user_allow = text_of(access->get_object(), "user-allow");
    } else if (access) {
        rules.user_allow = PropertyString::parse(text_of(*access)).find("user-allow").value_or("");
    }
    if (rules.user_allow.empty()) rules.user_allow = "free";
    return rules;
}

bool TagRules::allows(const std::string& tag) const {
    return !registered.contains(tag) && (user_allow == "free" || allowed.contains(tag));
}

std::string vm_path(const Settings& settings) {
    return settings.spec.resourcePool.empty() ? "/vms" : "/pool/" + settings.spec.resourcePool;
}

std::vector<MissingPrivilege> missing_privileges(const Settings& settings, const Permissions& permissions,
                                                 const Surroundings& surroundings) {
    Needs needs(settings, surroundings.major_version);
    needs.on_vms("VM.Allocate", "to create and remove machines");
    needs.on_vms("VM.Audit", "to read whose machine it is");
    needs.on_vms("VM.PowerMgmt", "to start and stop machines");
    needs.on_vms("VM.Config.CPU", "for the size");
    needs.on_vms("VM.Config.Memory", "for the size");
    needs.on_vms("VM.Config.HWType", "for the SMBIOS UUID");
    needs.on_vms("VM.Config.Options", "for name, tags and mark");
    need_for_options(needs, settings);
    need_for_clones(needs, settings, surroundings.templates);
    need_for_image(needs, settings, permissions, surroundings);
    need_for_tags(needs, settings, surroundings);
    const auto sees = [&](const std::string& host) { return permissions.has("/nodes/" + host, "Sys.Audit"); };
    const bool sees_any = std::ranges::any_of(surroundings.hosts, sees);
    if (!sees_any) needs.add({{"/nodes", "Sys.Audit", "to see how large hosts are"}, {}});
    for (const auto& host : surroundings.hosts)
        if (sees_any) needs.add({{"/nodes/" + host, "Sys.Audit", "to see how large the host is"}, {}});
    return needs.missing(permissions);
}

bool sees_all_volumes(const Permissions& permissions, const std::string& storage) {
    const auto path = "/storage/" + storage;
    return permissions.has(path, "Datastore.Allocate") ||
           (permissions.has("/vms", "VM.Config.Disk") && permissions.has(path, "Datastore.Audit"));
}

std::vector<MissingPrivilege> missing_image_privileges(const Settings& settings,
                                                       const Permissions& permissions,
                                                       const std::string& storage,
                                                       const std::vector<TemplateParts>& templates) {
    Needs needs(settings, 0);
    needs.on_vms("VM.Config.CDROM", "to give and take the boot image");
    if (std::ranges::any_of(templates, &TemplateParts::has_cloud_init_drive))
        needs.on_vms("VM.Config.Cloudinit", "to take the template's cloud-init drive away");
    for (const auto* privilege : {"Datastore.Audit", "Datastore.AllocateTemplate", "Datastore.Allocate"})
        needs.on_storage(storage, privilege, kImages);
    return needs.missing(permissions);
}

std::vector<MissingPrivilege> missing_network_privileges(const Settings& settings,
                                                         const Permissions& permissions) {
    Needs needs(settings, 0);
    needs.on_vms("VM.Config.Network", "to give MAC addresses to the template's interfaces");
    return needs.missing(permissions);
}

std::vector<MissingPrivilege> missing_agent_privileges(const Settings& settings,
                                                       const Permissions& permissions, int major_version) {
    const auto vms = vm_path(settings);
    const auto has = [&](const char* privilege) {
        return permissions.has(vms, privilege) || permissions.has("/vms", privilege);
    };
    std::vector<MissingPrivilege> missing;
    if (has("VM.Monitor")) return missing;
    const bool is_old = major_version > 0 && major_version < 9;
    if (is_old) return {{vms, "VM.Monitor", "to join machines through their guest agents"}};
    if (!has("VM.GuestAgent.Audit"))
        missing.push_back({vms, "VM.GuestAgent.Audit", "to ask whether the guest agent answers"});
    if (!has("VM.GuestAgent.Unrestricted"))
        missing.push_back({vms, "VM.GuestAgent.Unrestricted", "to run the join script"});
    return missing;
}

std::string list_text(const std::vector<MissingPrivilege>& missing) {
    return base::joined(missing, ", ", [](const MissingPrivilege& right) {
        return right.privilege + " on " + right.path + " (" + right.purpose + ")";
    });
}

std::string lack_text(const std::string& user, const Permissions& permissions,
                      const std::vector<MissingPrivilege>& missing, const std::string& behind) {
    if (missing.empty()) return {};
    const auto commands = grant_commands(user, permissions, missing);
    return user + " lacks " + list_text(missing) + behind +
           (commands.empty() ? std::string() : "; to grant it, as root: " + commands);
}

}  // namespace providers::proxmox
