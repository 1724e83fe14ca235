#include "controllers/claim/decide/guest_wish.hpp"

#include <algorithm>

#include "base/mac_address.hpp"
#include "controllers/services/address_networks.hpp"
#include "controllers/services/addresses.hpp"

namespace controllers::claim {

const api::v1alpha1::CloudInit& cloud_init_of(const Observation& observation) {
    static const api::v1alpha1::CloudInit kDefaults;
    const auto* provider = observation.provider.get();
    const bool given = provider && provider->spec.proxmox && provider->spec.proxmox->cloudInit;
    return given ? *provider->spec.proxmox->cloudInit : kDefaults;
}

api::v1alpha1::MachineNetwork network_of(const Observation& observation) {
    if (observation.pool) return machine_network(*observation.pool, observation.provider.get());
    return cloud_init_of(observation).network;
}

std::vector<bootstrap::KnownInterface> interfaces_of(const Observation& observation) {
    std::vector<bootstrap::KnownInterface> known;
    for (const auto& interface : observation.claim->status.networkInterfaces)
        known.push_back({interface.name, interface.macAddress, {}});
    if (!observation.pool) return known;
    for (const auto& reservation : observation.pool->status.addresses) {
        if (reservation.claim != observation.claim->metadata.name) continue;
        const auto name = interface_of(reservation);
        auto found = std::ranges::find(known, name, &bootstrap::KnownInterface::name);
        if (found == known.end()) found = known.insert(known.end(), {name, "", {}});
        found->addresses.push_back(reservation.address);
    }
    return known;
}

std::vector<WishedInterface> wished_interfaces(const Observation& observation,
                                               api::v1alpha1::BootstrapMethod method) {
    std::vector<WishedInterface> wished;
    const auto* provider = observation.provider.get();
    if (!provider || !provider->spec.proxmox) return wished;
    const auto& spec = *provider->spec.proxmox;
    for (const auto& interface : spec.networkInterfaces)
        wished.push_back({interface.name, interface.macPrefix, ""});
    const auto is_new = [&](const std::string& name) {
        return std::ranges::find(wished, name, &WishedInterface::name) == wished.end();
    };
    for (const auto& option : spec.vmOptions) {
        const bool is_net = option.name.starts_with("net") && option.name.size() <= 5 && is_new(option.name);
        if (!is_net || !option.value.is_string()) continue;
        wished.push_back({option.name, "", base::find_mac_address(option.value.as_string())});
    }
    const auto network = network_of(observation);
    const bool are_told =
        method == api::v1alpha1::BootstrapMethod::CloudInit && bootstrap::asks_for_anything(network);
    if (!are_told) return wished;
    for (const auto& one : bootstrap::by_interface(network))
        if (is_new(one.interface)) wished.push_back({one.interface, "", ""});
    return wished;
}

std::optional<std::string> network_obstacle(const Observation& observation,
                                            api::v1alpha1::BootstrapMethod method) {
    const auto network = network_of(observation);
    const auto* provider = observation.provider.get();
    const bool by_cloud_init = method == api::v1alpha1::BootstrapMethod::CloudInit;
    if (provider && !provider->spec.proxmox && by_cloud_init && !network.interfaces.empty()) {
        return "network.interfaces needs a provider of type proxmox, where the interfaces of a machine are "
               "known before it starts";
    }
    if (by_cloud_init || !configures_guest(observation)) return std::nullopt;
    for (const auto& one : bootstrap::by_interface(network)) {
        if (one.mtu || !one.routes.empty()) {
            return "mtu and routes of network need bootstrap.method CloudInit: Proxmox' own cloud-init "
                   "cannot set them";
        }
    }
    return std::nullopt;
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
        auto line = text.substr(at, end - at);
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty()) lines.push_back(std::move(line));
        at = end + 1;
    }
    return lines;
}

}  // namespace controllers::claim
