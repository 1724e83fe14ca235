#include "controllers/claim/decide/guest_wish.hpp"

#include <algorithm>

#include "controllers/services/addresses.hpp"

namespace controllers::claim {

const api::v1alpha1::CloudInit& cloud_init_of(const Observation& observation) {
    static const api::v1alpha1::CloudInit kDefaults;
    const auto* provider = observation.provider.get();
    const bool given = provider && provider->spec.proxmox && provider->spec.proxmox->cloudInit;
    return given ? *provider->spec.proxmox->cloudInit : kDefaults;
}

api::v1alpha1::MachineNetwork network_of(const Observation& observation) {
    if (observation.pool && observation.pool->spec.machineTemplate.network) {
        return *observation.pool->spec.machineTemplate.network;
    }
    return cloud_init_of(observation).network;
}

std::string address_of(const Observation& observation) {
    if (!observation.pool) return {};
    return reserved_address(*observation.pool, observation.claim->metadata.name);
}

bool configures_guest(const Observation& observation) {
    const auto* provider = observation.provider.get();
    if (!provider || !provider->spec.proxmox || !provider->spec.proxmox->template_) return false;
    const bool by_pool = observation.pool && observation.pool->spec.machineTemplate.network;
    return by_pool || provider->spec.proxmox->cloudInit;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        if (end > at) lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

}  // namespace controllers::claim
