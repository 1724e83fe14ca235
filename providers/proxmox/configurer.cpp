#include "providers/proxmox/configurer.hpp"

#include <algorithm>

#include "providers/proxmox/config/creation.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

// Returns the volumes that the unfinished machine has so far. A machine of an earlier version has no record,
// but is only seconds old.
MadeVolumes made_so_far(const VmConfig& config, std::int64_t vmid) {
    const auto record = recorded_volumes(config.option("description"));
    auto made = record.value_or(MadeVolumes{{}, copied_drives(config)});
    made.volumes.merge(explained_volumes(volume_uses(config), vmid, made));
    return made;
}

// Reports whether the change replaces disks. A replaced disk stays in the configuration as an unused one.
bool puts_disks_aside(const VmConfig& config, const base::FormFields& parameters) {
    const auto new_ones = new_drives(parameters);
    return std::ranges::any_of(volume_uses(config),
                               [&](const VolumeUse& use) { return new_ones.contains(use.option); });
}

}  // namespace

asio::awaitable<void> Configurer::configure(MachineSpec spec, VmConfig config) {
    BootPlace boot;
    if (auto* served = spec.served_boot_data()) {
        boot.url = co_await served->url(spec.record);
    } else if (spec.boot_image) {
        boot.image = co_await images_.volume_on(spec.identity, spec.record.host);
    } else if (spec.guest && settings_.spec.template_) {
        boot.cloud_init = co_await spec.guest->guest_settings();
    }
    const auto vmid = vmid_of(spec.record.machine_id);
    auto parameters = settings_.spec.template_ ? configure_parameters(settings_, spec, config, boot)
                                               : finishing_parameters(settings_, config, boot.image);
    auto made = made_so_far(config, vmid);
    if (puts_disks_aside(config, parameters)) {
        base::FormFields record{{"description", describe_unfinished_mark(spec.identity, vmid, made)}};
        co_await change(spec, config, std::move(record));
        config = co_await read_again(spec);
    }
    // Proxmox deletes options before it sets others. So the change that ends the template's protection cannot
    // delete a drive, and the next one does.
    base::FormFields last;
    const auto deletion = std::ranges::find(parameters, "delete", &base::FormFields::value_type::first);
    if (config.is_protected() && deletion != parameters.end()) {
        last.push_back(std::move(*deletion));
        parameters.erase(deletion);
    }
    const auto new_ones = new_drives(parameters);
    co_await change(spec, config, std::move(parameters));
    config = co_await read_again(spec);
    made.drives.insert(new_ones.begin(), new_ones.end());
    made.volumes.merge(explained_volumes(volume_uses(config), vmid, made));
    made.drives.clear();
    last.emplace_back("description", finished_description(settings_, spec.identity, vmid, made));
    co_await change(spec, config, std::move(last));
}

asio::awaitable<void> Configurer::change(const MachineSpec& spec, const VmConfig& read,
                                         base::FormFields change) {
    const auto vmid = vmid_of(spec.record.machine_id);
    const auto parameters = unless_changed(read, std::move(change));
    co_await client_.change(configure_vm(spec.record.host, vmid, parameters));
}

// Reads the configuration again. If somebody removed our mark from the machine, the mark is not restored.
asio::awaitable<VmConfig> Configurer::read_again(const MachineSpec& spec) {
    const auto vmid = vmid_of(spec.record.machine_id);
    const auto data = co_await client_.read(get_vm_config(spec.record.host, vmid));
    auto config = parse_vm_config(data);
    const auto ownership = ownership_of(config, vmid, spec.identity, settings_.managed_tag());
    if (ownership != Ownership::unfinished)
        throw ProxmoxError(ErrorKind::transient,
                           "configuring VM " + spec.record.machine_id + " on " + spec.record.host,
                           "it is no longer marked as this machine");
    co_return config;
}

asio::awaitable<std::string> Configurer::resize(MachineSpec spec, VmConfig config) {
    const auto size = wanted_disk_size(settings_, config);
    if (!size) co_return std::string();
    const auto& device = settings_.spec.template_->bootDisk.device;
    const auto upid = co_await client_.change(
        resize_disk(spec.record.host, vmid_of(spec.record.machine_id), device, *size));
    co_return text_of(upid);
}

}  // namespace providers::proxmox
