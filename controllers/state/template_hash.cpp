#include "controllers/state/template_hash.hpp"

#include <boost/json/serialize.hpp>
#include <span>

#include "api/json.hpp"
#include "base/hex.hpp"
#include "base/sha256.hpp"

namespace controllers::claim {

namespace {

// More addresses for further machines change none that exists.
void forget_ranges(api::v1alpha1::MachineNetwork& network) {
    network.addresses.clear();
    if (network.ipv6) network.ipv6->addresses.clear();
    for (auto& interface : network.interfaces) {
        interface.addresses.clear();
        if (interface.ipv6) interface.ipv6->addresses.clear();
    }
}

// The settings that make one machine differ from another.
std::string machine_part(const NodeSmithProvider& provider) {
    if (!provider.spec.proxmox) return {};
    const auto& given = *provider.spec.proxmox;
    NodeSmithProvider shape;
    auto& kept = shape.spec.proxmox.emplace();
    kept.vmMemOverheadMiB = given.vmMemOverheadMiB;
    kept.networkInterfaces = given.networkInterfaces;
    kept.vmOptions = given.vmOptions;
    kept.resourcePool = given.resourcePool;
    kept.template_ = given.template_;
    kept.cloudInit = given.cloudInit;
    if (kept.cloudInit) forget_ranges(kept.cloudInit->network);
    return boost::json::serialize(api::encode(shape));
}

}  // namespace

std::string template_hash(const NodeSmithPool& pool, const NodeSmithProvider* provider) {
    NodeSmithPool shape;
    shape.spec.providerRef = pool.spec.providerRef;
    shape.spec.machineTemplate = pool.spec.machineTemplate;
    if (auto& network = shape.spec.machineTemplate.network) forget_ranges(*network);
    shape.spec.bootstrap = pool.spec.bootstrap;
    // What may be launched next says nothing of what was launched.
    auto& machine = shape.spec.machineTemplate;
    machine.sizes.clear();
    machine.flexible.reset();
    machine.systemReserved = {};
    machine.kubeNodeNamePrefix.clear();
    // Described structs are encoded in the order of their members, so equal values give equal text.
    auto text = boost::json::serialize(api::encode(shape));
    if (provider) text += machine_part(*provider);
    constexpr std::size_t kHashBytes = 8;
    const auto digest = base::sha256(text);
    return base::hex(std::span(digest).first(kHashBytes));
}

const std::string& TemplateHashes::of(const NodeSmithPool& pool, const NodeSmithProvider* provider) {
    static const api::v1alpha1::ProviderSpec kNone;
    const auto& provider_spec = provider ? provider->spec : kNone;
    auto& known = known_[api::key_of(pool)];
    if (known.hash.empty() || known.pool != pool.spec || known.provider != provider_spec)
        known = {pool.spec, provider_spec, template_hash(pool, provider)};
    return known.hash;
}

}  // namespace controllers::claim
