#include "controllers/services/address_networks.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "controllers/services/addresses.hpp"

namespace controllers {

using api::v1alpha1::MachineNetwork;

namespace {

constexpr std::size_t kMostConflicts = 16;

}  // namespace

ProviderPointer provider_of_pool(const Informers& informers, const NodeSmithPool& pool) {
    return informers.providers.store().get({pool.metadata.namespace_, pool.spec.providerRef});
}

const MachineNetwork& machine_network(const NodeSmithPool& pool, const NodeSmithProvider* provider) {
    static const MachineNetwork kDefaults;
    if (pool.spec.machineTemplate.network) return *pool.spec.machineTemplate.network;
    const bool has_own = provider && provider->spec.proxmox && provider->spec.proxmox->cloudInit;
    return has_own ? provider->spec.proxmox->cloudInit->network : kDefaults;
}

const std::string& network_name(const MachineNetwork& network, const std::string& interface) {
    static const std::string kNone;
    if (network.interface == interface) return network.name;
    const auto found =
        std::ranges::find(network.interfaces, interface, &api::v1alpha1::FurtherInterface::name);
    return found == network.interfaces.end() ? kNone : found->networkName;
}

AddressNetwork address_network(const NodeSmithPool& pool, const NodeSmithProvider* provider,
                               const std::string& interface) {
    AddressNetwork result;
    result.name = network_name(machine_network(pool, provider), interface);
    if (!provider || !provider->spec.proxmox) return result;
    if (provider->status.cluster) {
        result.backend = provider->status.cluster->id;
        result.cluster = provider->status.cluster->name;
    }
    const auto& interfaces = provider->spec.proxmox->networkInterfaces;
    const auto found = std::ranges::find(interfaces, interface, &api::v1alpha1::NetworkInterface::name);
    if (found == interfaces.end()) return result;
    result.bridge = found->bridge;
    result.vlan = found->vlanTag.value_or(0);
    return result;
}

bool may_be_one(const AddressNetwork& a, const AddressNetwork& b) {
    if (!a.name.empty() || !b.name.empty()) return a.name == b.name;
    const auto differ = [](const std::string& one, const std::string& other) {
        return !one.empty() && !other.empty() && one != other;
    };
    // An endpoint that hides its certificates identifies its cluster by the name alone.
    const bool are_comparable = a.backend.starts_with("name ") == b.backend.starts_with("name ");
    if (are_comparable ? differ(a.backend, b.backend) : differ(a.cluster, b.cluster)) return false;
    if (differ(a.bridge, b.bridge)) return false;
    return !a.vlan || !b.vlan || *a.vlan == *b.vlan;
}

std::vector<AddressConflict> address_conflicts(const Informers& informers, const NodeSmithPool& pool) {
    std::vector<AddressConflict> conflicts;
    if (pool.status.addresses.empty()) return conflicts;
    const auto provider = provider_of_pool(informers, pool);
    for (const auto& [key, other] : informers.pools.store().all()) {
        std::map<std::string, const api::v1alpha1::AddressReservation*> held;
        for (const auto& reservation : other->status.addresses) held[reservation.address] = &reservation;
        for (const auto& own : pool.status.addresses) {
            const auto found = held.find(own.address);
            const bool is_own = key == api::key_of(pool) && found != held.end() && *found->second == own;
            if (found == held.end() || is_own || conflicts.size() == kMostConflicts) continue;
            const auto here = address_network(pool, provider.get(), interface_of(own));
            const auto there = address_network(*other, provider_of_pool(informers, *other).get(),
                                               interface_of(*found->second));
            if (may_be_one(here, there))
                conflicts.push_back({own.address, own.claim, key, found->second->claim});
        }
    }
    return conflicts;
}

std::string conflicts_text(const std::vector<AddressConflict>& conflicts) {
    std::string text;
    for (const auto& one : conflicts)
        text += (text.empty() ? "" : "; ") + one.address + " belongs to claim " + one.claim +
                " and to claim " + one.other_claim + " of pool " + one.pool.str();
    if (!text.empty())
        text +=
            ". Both keep the address: delete one claim of each pair, or, if the networks are different ones, "
            "name them (network.name, and network.interfaces[].networkName for further interfaces)";
    return text;
}

}  // namespace controllers
