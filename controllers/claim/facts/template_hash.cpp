#include "controllers/claim/facts/template_hash.hpp"

#include <boost/json/serialize.hpp>
#include <optional>
#include <span>

#include "api/json.hpp"
#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "controllers/claim/facts/label_rules.hpp"

namespace controllers::claim {

namespace {

namespace json = boost::json;
using api::v1alpha1::MachineNetwork;

// This is the version of the hashed text. Hashes recorded with another version cannot be compared.
constexpr const char* kVersion = "3-";

// Returns what differs from the defaults. A later version may add fields with defaults, and an upgrade of
// the operator must not cause drift.
template <class T>
json::object given(const T& value) {
    return api::merge_patch(T{}, value);
}

template <class T>
void put(json::object& text, std::string_view name, const std::optional<T>& value) {
    if (value) text[name] = given(*value);
}

// Removes the parts that do not shape a machine: more addresses for further
// machines, and the names of the networks.
MachineNetwork without_ranges(MachineNetwork network) {
    network.name.clear();
    network.addresses.clear();
    if (network.ipv6) network.ipv6->addresses.clear();
    for (auto& interface : network.interfaces) {
        interface.networkName.clear();
        interface.addresses.clear();
        if (interface.ipv6) interface.ipv6->addresses.clear();
    }
    return network;
}

// Leaves out what concerns future launches only.
void put_machine(json::object& text, api::v1alpha1::MachineTemplate machine) {
    if (machine.network) text["network"] = given(without_ranges(*machine.network));
    machine.network.reset();
    machine.sizes.clear();
    machine.flexible.reset();
    machine.systemReserved = {};
    machine.volumeLimits.clear();
    machine.storageCapacity.clear();
    machine.price.reset();
    machine.kubeNodeNamePrefix.clear();
    text["machineTemplate"] = given(machine);
}

void put_bootstrap(json::object& text, std::optional<api::v1alpha1::Bootstrap> bootstrap) {
    if (!bootstrap) return;
    put(text, "kubelet", bootstrap->kubelet);
    bootstrap->kubelet.reset();
    bootstrap->servingNetworks.clear();
    text["bootstrap"] = given(*bootstrap);
}

// Keeps the checksum, which identifies the image wherever it is from.
std::optional<api::v1alpha1::Template> without_place(std::optional<api::v1alpha1::Template> wish) {
    if (!wish || !wish->image) return wish;
    wish->image->url.clear();
    wish->image->downloadStorage.clear();
    return wish;
}

// Returns the settings that distinguish machines.
json::object machine_part(const api::v1alpha1::ProxmoxSpec& settings) {
    api::v1alpha1::ProxmoxSpec kept;
    kept.vmMemOverheadMiB = settings.vmMemOverheadMiB;
    kept.networkInterfaces = settings.networkInterfaces;
    kept.vmOptions = settings.vmOptions;
    kept.resourcePool = settings.resourcePool;
    auto text = given(kept);
    put(text, "template", without_place(settings.template_));
    if (auto cloud_init = settings.cloudInit) {
        cloud_init->network = without_ranges(cloud_init->network);
        text["cloudInit"] = given(*cloud_init);
    }
    return text;
}

}  // namespace

std::string template_hash(const NodeSmithPool& pool, const NodeSmithProvider* provider) {
    json::object text{{"providerRef", pool.spec.providerRef}};
    auto machine = pool.spec.machineTemplate;
    for (const auto& [key, why] : labels_without_effect(pool, provider)) machine.labels.erase(key);
    put_machine(text, std::move(machine));
    put_bootstrap(text, pool.spec.bootstrap);
    if (provider && provider->spec.proxmox) text["proxmox"] = machine_part(*provider->spec.proxmox);
    constexpr std::size_t kHashBytes = 8;
    // Members have the order of the described structs, so equal values give equal text.
    const auto digest = base::sha256(json::serialize(text));
    return kVersion + base::hex(std::span(digest).first(kHashBytes));
}

bool is_comparable(std::string_view template_hash) {
    return template_hash.starts_with(kVersion);
}

const std::string& TemplateHashes::of(const NodeSmithPool& pool, const NodeSmithProvider* provider) {
    static const api::v1alpha1::ProviderSpec kNone;
    const auto& provider_spec = provider ? provider->spec : kNone;
    // Deleted pools are forgotten occasionally together with all others, which costs one hash for each.
    if (known_.size() >= kMostKnown && !known_.contains(pool.metadata.uid)) known_.clear();
    auto& known = known_[pool.metadata.uid];
    if (known.hash.empty() || known.pool != pool.spec || known.provider != provider_spec)
        known = {pool.spec, provider_spec, template_hash(pool, provider)};
    return known.hash;
}

}  // namespace controllers::claim
