#include "providers/proxmox/placement/made_volumes.hpp"

#include "providers/proxmox/config/volumes.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kTemplatesAge = std::chrono::seconds{30};

}  // namespace

// Returns the volumes that the machine was made with. A machine without a record is older than records. It
// has its boot disks, the disks of current templates, and the disks of vmOptions.
asio::awaitable<MadeVolumes> MadeVolumesFinder::of_machine(VmConfig config) {
    auto record = recorded_volumes(config.option("description"));
    if (record) co_return *std::move(record);
    MadeVolumes made{{}, essential_drives(config)};
    made.drives.merge(new_drives(settings_.vm_options));
    if (!settings_.spec.template_) co_return made;
    made.drives.insert(settings_.spec.template_->bootDisk.device);
    const auto state = co_await view_.state(kTemplatesAge);
    auto templates = co_await templates_.parts(state);
    for (auto& parts : templates) made.drives.merge(parts.drives);
    co_return made;
}

MadeVolumes made_with_image_template(const VmConfig& config) {
    const auto record = recorded_volumes(config.option("description"));
    return record.value_or(MadeVolumes{{}, essential_drives(config)});
}

}  // namespace providers::proxmox
