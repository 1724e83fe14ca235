// Hosts that need a template of the image. Pure.
#pragma once

#include <string>
#include <vector>

#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/placement/host_choice.hpp"

namespace providers::proxmox {

struct ImageSite {
    std::string host;
    std::string download_storage;  // empty: it cannot be made there, see `obstacle`
    Obstacle obstacle;
};

// Returns each host that may get machines and has the template's storage. If the hosts share the storage, it
// is only the first that can download. Absent hosts are omitted.
std::vector<ImageSite> image_sites(const Settings& settings, const ClusterState& state);

// Returns the storage for downloads on that host. It is the configured one, the template's, or the first by
// name that accepts such files. Empty: none.
std::string download_storage(const api::v1alpha1::TemplateImage& image, const ClusterState& state,
                             const std::string& host);

}  // namespace providers::proxmox
