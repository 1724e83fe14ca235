#include "migrate/kubenodesmith_config.hpp"

#include <boost/json/object.hpp>
#include <stdexcept>

#include "api/json.hpp"
#include "migrate/rules.hpp"
#include "migrate/source.hpp"

namespace kubenodesmith::migrate {
namespace {

namespace json = boost::json;
using namespace api::v1alpha1;

constexpr auto kMapped = Outcome::mapped;
constexpr auto kDifferent = Outcome::different;
constexpr auto kNone = Outcome::none;

// Decodes a part of spec.proxmox that has the same form here.
ProxmoxSpec decode_part(std::string_view field, const Setting& setting) {
    json::object proxmox;
    proxmox[field] = setting.value;
    json::object spec;
    spec["proxmox"] = std::move(proxmox);
    json::object document;
    document["spec"] = std::move(spec);
    try {
        return api::decode<NodeSmithProvider>(document).spec.proxmox.value();
    } catch (const api::DecodeError& error) {
        throw std::invalid_argument(error.what());
    }
}

api::Duration duration(const Setting& setting) {
    return api::Duration::parse(setting.text());
}

const std::string& provider_of(const Setting& setting) {
    return setting.names.front();
}

NodeSmithPool& pool_of(Draft& draft, const Setting& setting) {
    return draft.pool(setting.names.front());
}

ProxmoxSpec& proxmox_of(Draft& draft, const Setting& setting) {
    return draft.proxmox(provider_of(setting));
}

// Copies the labels. drop_own_label() removes the pool's label afterwards.
void set_labels(Draft& draft, Setting& setting) {
    const auto* object = setting.value.if_object();
    if (!object) throw std::invalid_argument("expected a mapping of labels");
    auto& labels = pool_of(draft, setting).spec.machineTemplate.labels;
    for (const auto& [key, value] : *object) {
        if (!value.is_string())
            throw std::invalid_argument("the value of label " + std::string(key) + " is not a string");
        labels[key] = std::string(value.get_string());
    }
}

const Rule kRules[] = {
    {"schemaVersion", kNone, "", "the version stands in each resource's apiVersion",
     [](Draft&, Setting& s) {
         if (s.text() != "v1alpha1") throw std::invalid_argument("expected v1alpha1");
     }},
    {"pollingInterval", kNone, "", "nothing is polled: watches say at once what changed"},
    {"providers.*.type", kMapped, "NodeSmithProvider spec.type", "",
     [](Draft& d, Setting& s) {
         if (s.text() != "proxmox") throw std::invalid_argument("only proxmox was ever implemented there");
         d.provider(provider_of(s)).spec.type = ProviderType::proxmox;
     }},
    {"providers.*.credentialsRef.name", kMapped, "spec.credentialsSecretRef.name",
     "the Secret's keys PROXMOX_TOKEN_ID, PROXMOX_SECRET and PROXMOX_SKIP_TLS_VERIFY are the same",
     [](Draft& d, Setting& s) {
         auto& reference = d.provider(provider_of(s)).spec.credentialsSecretRef;
         if (!reference) reference.emplace();
         reference->name = s.text();
     }},
    {"providers.*.credentialsRef.namespace", kDifferent, "metadata.namespace",
     "the Secret must be in the provider's namespace, so the provider and its pools go there",
     [](Draft& d, Setting& s) { d.provider(provider_of(s)).metadata.namespace_ = s.text(); }},
    {"providers.*.options.endpoint", kMapped, "spec.proxmox.endpoint", "",
     [](Draft& d, Setting& s) { proxmox_of(d, s).endpoint = s.text(); }},
    {"providers.*.options.nodeWhitelist", kMapped, "spec.proxmox.nodeWhitelist", "",
     [](Draft& d, Setting& s) { proxmox_of(d, s).nodeWhitelist = s.list(); }},
    {"providers.*.options.vmIDRange.lower", kMapped, "spec.proxmox.vmIDRange.lower", "",
     [](Draft& d, Setting& s) {
         auto& range = proxmox_of(d, s).vmIDRange;
         if (!range) range.emplace();
         range->lower = s.integer();
     }},
    {"providers.*.options.vmIDRange.upper", kMapped, "spec.proxmox.vmIDRange.upper", "",
     [](Draft& d, Setting& s) {
         auto& range = proxmox_of(d, s).vmIDRange;
         if (!range) range.emplace();
         range->upper = s.integer();
     }},
    {"providers.*.options.managedNodeTag", kMapped, "spec.proxmox.managedNodeTag",
     "the tag alone proves nothing here: a machine is ours only with its claim's mark",
     [](Draft& d, Setting& s) { proxmox_of(d, s).managedNodeTag = s.text(); }},
    {"providers.*.options.vmMemOverheadMiB", kMapped, "spec.proxmox.vmMemOverheadMiB", "",
     [](Draft& d, Setting& s) { proxmox_of(d, s).vmMemOverheadMiB = s.integer(); }},
    {"providers.*.options.networkInterfaces", kMapped, "spec.proxmox.networkInterfaces", "",
     [](Draft& d, Setting& s) {
         proxmox_of(d, s).networkInterfaces = decode_part("networkInterfaces", s).networkInterfaces;
     }},
    {"providers.*.options.vmOptions", kMapped, "spec.proxmox.vmOptions", "",
     [](Draft& d, Setting& s) { proxmox_of(d, s).vmOptions = decode_part("vmOptions", s).vmOptions; }},
    {"nodePools.*.name", kMapped, "NodeSmithPool metadata.name", "",
     [](Draft& d, Setting& s) { pool_of(d, s).metadata.name = s.text(); }},
    {"nodePools.*.providerRef", kMapped, "spec.providerRef", "",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.providerRef = s.text(); }},
    {"nodePools.*.poolLabelKey", kMapped, "spec.poolLabelKey", "",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.poolLabelKey = s.text(); }},
    {"nodePools.*.limits.minNodes", kDifferent, "spec.limits.minNodes",
     "so many nodes are created without demand",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.limits.minNodes = s.integer(); }},
    {"nodePools.*.limits.maxNodes", kMapped, "spec.limits.maxNodes", "0 is unlimited",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.limits.maxNodes = s.integer(); }},
    {"nodePools.*.limits.cpuCores", kMapped, "spec.limits.cpuCores", "",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.limits.cpuCores = s.integer(); }},
    {"nodePools.*.limits.memoryMiB", kMapped, "spec.limits.memoryMiB", "",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.limits.memoryMiB = s.integer(); }},
    {"nodePools.*.machineTemplate.kubeNodeNamePrefix", kDifferent, "spec.machineTemplate.kubeNodeNamePrefix",
     "names end in five letters and digits instead of the VMID",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.machineTemplate.kubeNodeNamePrefix = s.text(); }},
    {"nodePools.*.machineTemplate.architecture", kMapped, "spec.machineTemplate.architecture", "",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.machineTemplate.architecture = s.text(); }},
    {"nodePools.*.machineTemplate.labels", kMapped, "spec.machineTemplate.labels", "", set_labels},
    {"nodePools.*.scaleUp.batchSize", kDifferent, "spec.scaleUp.batchSize", "had no effect there",
     [](Draft& d, Setting& s) {
         pool_of(d, s).spec.scaleUp.batchSize = static_cast<std::int32_t>(s.integer());
     }},
    {"nodePools.*.scaleUp.stabilizationWindow", kMapped, "spec.scaleUp.stabilizationWindow",
     "the least time between two scale-ups of the pool",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.scaleUp.stabilizationWindow = duration(s); }},
    {"nodePools.*.scaleDown.stabilizationWindow", kDifferent, "spec.scaleDown.stabilizationWindow",
     "counts from the pool's last scale-up",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.scaleDown.stabilizationWindow = duration(s); }},
    {"nodePools.*.scaleDown.maxConcurrent", kDifferent, "spec.scaleDown.maxConcurrent", "had no effect there",
     [](Draft& d, Setting& s) {
         pool_of(d, s).spec.scaleDown.maxConcurrent = static_cast<std::int32_t>(s.integer());
     }},
    {"nodePools.*.scaleDown.drainTimeout", kDifferent, "spec.scaleDown.drainTimeout",
     "had no effect there; a drain that takes longer is given up unless drainTimeoutAction is Force",
     [](Draft& d, Setting& s) { pool_of(d, s).spec.scaleDown.drainTimeout = duration(s); }},
};

// Sets namespaces, as pools must be in their provider's namespace.
void place(Draft& draft, const Names& names) {
    for (auto& [name, provider] : draft.providers) {
        provider.metadata.name = name;
        if (provider.metadata.namespace_.empty()) provider.metadata.namespace_ = names.namespace_;
        if (!provider.spec.proxmox || provider.spec.proxmox->endpoint.empty()) {
            throw std::invalid_argument("providers." + name + ".options.endpoint is missing");
        }
        if (!provider.spec.credentialsSecretRef) {
            throw std::invalid_argument("providers." + name + ".credentialsRef is missing");
        }
    }
    for (auto& [index, pool] : draft.pools) {
        const auto key = "nodePools." + index;
        if (pool.metadata.name.empty()) throw std::invalid_argument(key + ".name is missing");
        const auto provider = draft.providers.find(pool.spec.providerRef);
        if (provider == draft.providers.end()) {
            throw std::invalid_argument(key + ".providerRef names no provider of this file");
        }
        pool.metadata.namespace_ = provider->second.metadata.namespace_;
    }
}

// Drops the pool's label, which the operator sets. Another value would take Nodes out of their pool.
void drop_own_label(Draft& draft, Report& report) {
    for (auto& [index, pool] : draft.pools) {
        auto& labels = pool.spec.machineTemplate.labels;
        const auto own = labels.find(pool.spec.poolLabelKey);
        if (own == labels.end()) continue;
        if (own->second != pool.metadata.name) {
            throw std::invalid_argument(
                "nodePools." + index + ".machineTemplate.labels: " + pool.spec.poolLabelKey +
                " must be the pool's name, " + pool.metadata.name + ", or be left out");
        }
        labels.erase(own);
        report.notes.push_back("Label " + pool.spec.poolLabelKey + " of pool " + pool.metadata.name +
                               " is left out: the operator sets it on each of the pool's Nodes.");
    }
}

}  // namespace

Migration migrate_kubenodesmith(std::string_view text, const Names& names) {
    Migration migration;
    auto& [draft, report] = migration;
    apply_rules(kRules, read_settings(text), draft, report);
    if (draft.providers.empty()) throw std::invalid_argument("providers: there is none");
    if (draft.pools.empty()) throw std::invalid_argument("nodePools: there is none");
    place(draft, names);
    drop_own_label(draft, report);
    draft.control_plane.metadata.name = "kubenodesmith";
    draft.control_plane.spec.pools = {"*"};
    report.notes.emplace_back(
        "Machines of the old operator have no claim and are never touched. Stop it, apply these resources, "
        "then "
        "drain its Nodes and remove its machines one by one: KubeNodeSmith creates new nodes for the evicted "
        "pods.");
    return migration;
}

}  // namespace kubenodesmith::migrate
