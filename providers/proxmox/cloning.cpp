#include "providers/proxmox/cloning.hpp"

#include <map>

#include "providers/proxmox/config/creation.hpp"
#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/config/volumes.hpp"

namespace providers::proxmox {

namespace {

using Options = std::map<std::string, std::string>;

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
    std::string text;
    for (const auto& part : parts) text += (text.empty() ? "" : std::string(separator)) + part;
    return text;
}

// Resets template options that a managed machine must not inherit unless the user sets them. Such a guest
// would restart by itself, resist removal, or shrink its memory.
void reset_inherited(Options& options) {
    options.try_emplace("onboot", "0");
    options.try_emplace("protection", "0");
    options.try_emplace("balloon", "0");
    options.try_emplace("sockets", "1");
}

std::string ip_config(const GuestInterface& interface) {
    std::string text = interface.dhcp ? "ip=dhcp" : "";
    for (const auto& [address, gateway] : interface.addresses) {
        const bool v6 = address.find(':') != std::string::npos;
        text += (text.empty() ? "" : ",") + std::string(v6 ? "ip6=" : "ip=") + address;
        if (!gateway.empty()) text += (v6 ? ",gw6=" : ",gw=") + gateway;
    }
    return text;
}

void set_ip_configs(Options& options, std::vector<GuestInterface> interfaces) {
    if (interfaces.empty()) interfaces.push_back({"net0", true, {}});
    for (const auto& interface : interfaces) {
        const auto number = interface.name.substr(std::string_view("net").size());
        options.try_emplace("ipconfig" + number, ip_config(interface));
    }
}

std::string cicustom(const api::v1alpha1::CustomCloudInit& custom) {
    PropertyString value;
    if (!custom.meta.empty()) value.set("meta", custom.meta);
    if (!custom.network.empty()) value.set("network", custom.network);
    if (!custom.user.empty()) value.set("user", custom.user);
    if (!custom.vendor.empty()) value.set("vendor", custom.vendor);
    return value.str();
}

void set_cloud_init(Options& options, const Settings& settings, const VmConfig& config,
                    const GuestSettings& guest) {
    set_ip_configs(options, guest.interfaces);
    options["ciupgrade"] = guest.upgrade_packages ? "1" : "0";
    if (!guest.user.empty()) options["ciuser"] = guest.user;
    if (!guest.ssh_authorized_keys.empty()) options["sshkeys"] = encode_ssh_keys(guest.ssh_authorized_keys);
    if (!guest.nameservers.empty()) options["nameserver"] = joined(guest.nameservers, " ");
    if (!guest.search_domains.empty()) options["searchdomain"] = joined(guest.search_domains, " ");
    const auto& wish = settings.spec.cloudInit;
    if (wish && wish->custom) options["cicustom"] = cicustom(*wish->custom);
    // Without a cloud-init drive Proxmox stores the settings but never shows them to the guest.
    if (!cloud_init_drive(config)) {
        const auto disk = config.option(settings.spec.template_->bootDisk.device);
        options[free_cdrom_drive(config)] = storage_of_drive(disk) + ":cloudinit";
    }
}

// Removes the drive, as it would be a second source of boot data.
void remove_cloud_init_drive(Options& options, const VmConfig& config) {
    if (const auto drive = cloud_init_drive(config)) options["delete"] = drive->drive;
}

// Inserts the image, unless an earlier unfinished change already inserted it.
void insert_image(Options& options, const VmConfig& config, const std::string& volume) {
    if (volume.empty() || drive_with_file(config, volume.substr(volume.find('/') + 1))) return;
    options[free_cdrom_drive(config)] = volume + ",media=cdrom";
}

void set_boot_place(Options& options, const Settings& settings, const VmConfig& config,
                    const BootPlace& boot) {
    if (boot.cloud_init) return set_cloud_init(options, settings, config, *boot.cloud_init);
    insert_image(options, config, boot.image);
    if (!boot.image.empty() || !boot.url.empty()) remove_cloud_init_drive(options, config);
}

}  // namespace

base::FormFields clone_parameters(const Settings& settings, const MachineSpec& spec,
                                  const CloneSource& source, CloneKind kind) {
    const auto& wish = *settings.spec.template_;
    const auto vmid = vmid_of(spec.record.machine_id);
    MadeVolumes made{{}, source.drives};
    made.drives.merge(new_drives(settings.vm_options));
    base::FormFields fields{{"newid", spec.record.machine_id},
                            {"name", spec.name},
                            {"full", kind == CloneKind::full ? "1" : "0"},
                            {"description", describe_unfinished_mark(spec.identity, vmid, made)}};
    if (source.node != spec.record.host) fields.emplace_back("target", spec.record.host);
    if (!settings.spec.resourcePool.empty()) fields.emplace_back("pool", settings.spec.resourcePool);
    if (kind == CloneKind::full && !wish.storage.empty()) fields.emplace_back("storage", wish.storage);
    if (kind == CloneKind::full && !wish.format.empty()) fields.emplace_back("format", wish.format);
    return fields;
}

CloneKind preferred_kind(const api::v1alpha1::Template& wish) {
    using api::v1alpha1::CloneMode;
    if (wish.cloneMode == CloneMode::Full) return CloneKind::full;
    const bool asks_for_full = !wish.storage.empty() || !wish.format.empty();
    return wish.cloneMode == CloneMode::Auto && asks_for_full ? CloneKind::full : CloneKind::linked;
}

bool is_link_refusal(const ProxmoxError& error) {
    return error.message.find("Linked clone feature is not supported") != std::string::npos;
}

base::FormFields configure_parameters(const Settings& settings, const MachineSpec& spec,
                                      const VmConfig& config, const BootPlace& boot) {
    Options options(settings.vm_options.begin(), settings.vm_options.end());
    auto tags = config.tags();
    // These tags identify templates, so a machine must not keep them.
    for (const auto& tag : settings.spec.template_->matchTags) {
        for (const auto& one : parse_tags(tag)) tags.erase(one);
    }
    const auto smbios = options.contains("smbios1") ? options["smbios1"] : config.option("smbios1");

    reset_inherited(options);
    if (spec.join && config.option("agent").empty()) options.try_emplace("agent", "1");
    options["tags"] = machine_tags(settings, std::move(tags));
    options["smbios1"] = smbios_values(smbios, spec.identity.system_uuid, boot.url);
    options.erase("description");
    options["cores"] = std::to_string(spec.cpu_cores);
    options["memory"] = std::to_string(spec.memory_mib + settings.spec.vmMemOverheadMiB);
    set_network_interfaces(options, settings, spec, config.options);
    set_boot_place(options, settings, config, boot);
    if (!config.option("vcpus").empty() && !options.contains("vcpus")) {
        options["delete"] += (options["delete"].empty() ? "" : ",") + std::string("vcpus");
    }
    return {options.begin(), options.end()};
}

base::FormFields finishing_parameters(const Settings& settings, const VmConfig& config,
                                      const std::string& image) {
    Options options{{"tags", machine_tags(settings, config.tags())}};
    insert_image(options, config, image);
    return {options.begin(), options.end()};
}

std::optional<std::int64_t> wanted_disk_size(const Settings& settings, const VmConfig& config) {
    if (!settings.spec.template_) return std::nullopt;
    const auto& disk = settings.spec.template_->bootDisk;
    if (!disk.sizeGiB || *disk.sizeGiB <= disk_size_gib(config, disk.device)) return std::nullopt;
    return disk.sizeGiB;
}

std::string encode_ssh_keys(const std::vector<std::string>& keys) {
    std::string lines;
    for (auto key : keys) {
        while (!key.empty() && (key.back() == '\n' || key.back() == '\r' || key.back() == ' '))
            key.pop_back();
        if (!key.empty()) lines += (lines.empty() ? "" : "\n") + key;
    }
    return base::percent_encode(lines);
}

}  // namespace providers::proxmox
