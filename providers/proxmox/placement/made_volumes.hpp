// What a VM of ours was made with: as its mark records it or, for VMs that are older than the record, as the
// configuration explains it.
#pragma once

#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/placement/templates.hpp"

namespace providers::proxmox {

class MadeVolumesFinder {
public:
    // All must outlive this.
    MadeVolumesFinder(const Settings& settings, ClusterView& view, Templates& templates)
        : settings_(settings), view_(view), templates_(templates) {}

    // Throws ProxmoxError.
    asio::awaitable<MadeVolumes> of_machine(VmConfig config);

private:
    const Settings& settings_;
    ClusterView& view_;
    Templates& templates_;
};

// Of a template that was made of an image: its one disk. Pure.
MadeVolumes made_with_image_template(const VmConfig& config);

}  // namespace providers::proxmox
