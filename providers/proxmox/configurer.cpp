#include "providers/proxmox/configurer.hpp"

#include "providers/proxmox/config/creation.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

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
    const auto parameters = settings_.spec.template_ ? configure_parameters(settings_, spec, config, boot)
                                                     : finishing_parameters(settings_, config, boot.image);
    co_await client_.change(configure_vm(spec.record.host, vmid, parameters));
    const base::FormFields mark{{"description", finished_description(settings_, spec.identity)}};
    co_await client_.change(configure_vm(spec.record.host, vmid, mark));
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
