// Which hosts shall have a template of the image. Pure.
#pragma once

#include <string>
#include <vector>

#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/placement/host_choice.hpp"

namespace providers::proxmox {

struct ImageSite {
    std::string host;
    std::string download_storage;  // empty: `obstacle` says why it cannot be made there
    Obstacle obstacle;
};

// Each host that machines may be placed on and that has the template's storage; if the hosts share that, the
// first of them that can download. Hosts that are away are left out.
std::vector<ImageSite> image_sites(const Settings& settings, const ClusterState& state);

// Where that host puts what it downloads: the configured storage, or the template's, or the first by name
// that takes such files; empty: none.
std::string download_storage(const api::v1alpha1::TemplateImage& image, const ClusterState& state,
                             const std::string& host);

}  // namespace providers::proxmox
