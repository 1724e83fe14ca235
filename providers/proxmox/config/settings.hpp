// The configuration of one Proxmox provider, checked: what the rest of the backend works from.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/v1alpha1/proxmox.hpp"
#include "providers/environment.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

// Inclusive.
struct IDRange {
    std::int64_t lower = 100;
    std::int64_t upper = 999'999;
    bool operator==(const IDRange&) const = default;
};

struct Settings {
    std::string provider_name;  // namespace/name
    std::string provider_uid;
    std::string cluster_id;
    std::string cluster_name;  // of the Proxmox cluster, as it was recorded; empty: it was not
    api::v1alpha1::ProxmoxSpec spec;
    std::optional<IDRange> ids;   // nullopt: the cluster's own next-id range
    base::FormFields vm_options;  // values as Proxmox' forms want them, by name

    const std::string& managed_tag() const { return spec.managedNodeTag; }
    // Machines are made without tags, which a right on the resource pool does not allow to give to a VM that
    // is not in it yet, with those of their template, or with disks whose names Proxmox chooses: a change
    // after their creation makes them what they are and records their volumes.
    bool are_finished_later() const;
    // Where boot images are to be put; empty: on any storage that takes them.
    std::string image_storage() const { return spec.cloudInit ? spec.cloudInit->isoStorage : std::string(); }
    // proxmox://<cluster>/vms/<vmid>, or proxmox://<region>/<vmid>.
    std::string provider_id(const std::string& cluster, const std::string& machine_id) const;
    // Of which the templates are made; null: somebody else makes them, or there are none.
    const api::v1alpha1::TemplateImage* template_image() const {
        return spec.template_ && spec.template_->image ? &*spec.template_->image : nullptr;
    }
    bool has_zones() const { return !spec.placement.zoneLabel.empty(); }
};

// Throws std::invalid_argument that names the field and what would be right; never shows a credential.
Settings make_settings(const ProviderConfig& config);
ClientOptions make_client_options(const ProviderConfig& config);

// https://host:8006 of https://host:8006/api2/json. Throws std::invalid_argument.
std::string endpoint_origin(const std::string& endpoint);

}  // namespace providers::proxmox
