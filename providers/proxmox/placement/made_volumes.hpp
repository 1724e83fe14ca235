// MadeVolumesFinder finds the volumes that our VM was made with. They are in its mark; for VMs that are older
// than the record, they follow from the configuration.
#pragma once

#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/placement/templates.hpp"

namespace providers::proxmox {

class MadeVolumesFinder {
public:
    // All arguments must outlive this.
    MadeVolumesFinder(const Settings& settings, ClusterView& view, Templates& templates)
        : settings_(settings), view_(view), templates_(templates) {}

    // Throws ProxmoxError.
    asio::awaitable<MadeVolumes> of_machine(VmConfig config);

private:
    const Settings& settings_;
    ClusterView& view_;
    Templates& templates_;
};

// Returns the one disk of a template made from an image. Pure.
MadeVolumes made_with_image_template(const VmConfig& config);

}  // namespace providers::proxmox
