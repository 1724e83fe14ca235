// All backends by type. A new backend needs a folder and a line here.
#include "providers/registry/registry.hpp"

#include <stdexcept>

#include "providers/proxmox/proxmox_provider.hpp"
#include "providers/redfish/redfish_provider.hpp"

namespace providers {

std::unique_ptr<Provider> make_provider(ProviderConfig config, ProviderEnvironment& environment) {
    switch (config.spec.type) {
        case api::v1alpha1::ProviderType::proxmox:
            return proxmox::make_proxmox_provider(std::move(config), environment);
        case api::v1alpha1::ProviderType::redfish:
            return redfish::make_redfish_provider(std::move(config), environment);
        case api::v1alpha1::ProviderType::Unrecognized:
            break;
    }
    throw std::invalid_argument("spec.type: unknown");
}

}  // namespace providers
