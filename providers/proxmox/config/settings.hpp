// The checked configuration of one Proxmox provider. The rest of the backend uses it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/v1alpha1/proxmox.hpp"
#include "providers/environment.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

// IDRange includes both bounds.
struct IDRange {
    std::int64_t lower = 100;
    std::int64_t upper = 999'999;
    bool operator==(const IDRange&) const = default;
};

struct Settings {
    std::string provider_name;  // namespace/name
    std::string provider_uid;
    std::string cluster_id;
    std::string cluster_name;  // recorded name of the Proxmox cluster; empty: not recorded
    api::v1alpha1::ProxmoxSpec spec;
    std::optional<IDRange> ids;   // nullopt: the cluster's next-id range
    base::FormFields vm_options;  // values by name, encoded for Proxmox' forms

    const std::string& managed_tag() const { return spec.managedNodeTag; }
    // Reports whether a second change must complete a new machine and record its volumes. The reason is a
    // template's tags, disks that Proxmox names, or a resource pool. A right on the pool does not allow
    // tagging a VM that is not yet in it.
    bool are_finished_later() const;
    // Returns the storage for boot images; empty: any storage that accepts them.
    std::string image_storage() const { return spec.cloudInit ? spec.cloudInit->isoStorage : std::string(); }
    // Returns proxmox://<cluster>/vms/<vmid> or proxmox://<region>/<vmid>.
    std::string provider_id(const std::string& cluster, const std::string& machine_id) const;
    // Returns the image that templates are made from. Null: somebody else makes them, or there are none.
    const api::v1alpha1::TemplateImage* template_image() const {
        return spec.template_ && spec.template_->image ? &*spec.template_->image : nullptr;
    }
    bool has_zones() const { return !spec.placement.zoneLabel.empty(); }
};

// Throws std::invalid_argument with the field and its correction. The text never contains a credential.
Settings make_settings(const ProviderConfig& config);
ProxmoxClientOptions make_client_options(const ProviderConfig& config);

// Returns https://host:8006 for https://host:8006/api2/json. Throws std::invalid_argument.
std::string endpoint_origin(const std::string& endpoint);

}  // namespace providers::proxmox
