#include "providers/proxmox/config/settings.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "api/names.hpp"
#include "base/url.hpp"
#include "providers/proxmox/config/image.hpp"
#include "providers/proxmox/config/vm_options.hpp"
#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr std::int64_t kLowestID = 100;
constexpr std::int64_t kHighestID = 999'999'999;

[[noreturn]] void refuse(const std::string& field, const std::string& why) {
    throw std::invalid_argument("spec.proxmox." + field + ": " + why);
}

const api::v1alpha1::ProxmoxSpec& spec_of(const ProviderConfig& config) {
    if (!config.spec.proxmox) throw std::invalid_argument("spec.proxmox: must be set for type proxmox");
    return *config.spec.proxmox;
}

std::string value_of(const ProviderConfig& config, std::string_view key) {
    const auto found = config.credentials.find(std::string(key));
    if (found == config.credentials.end()) return {};
    auto value = found->second;
    while (!value.empty() && (value.back() == '\n' || value.back() == '\r' || value.back() == ' '))
        value.pop_back();
    return value;
}

void check_tag(const std::string& tag) {
    // Checks pve-tag of PVE::JSONSchema. It must be a single tag, as it decides which VMs are ours.
    constexpr std::string_view kCharacters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";
    const bool good = !tag.empty() && tag.find_first_not_of(kCharacters) == std::string::npos &&
                      tag[0] != '-' && tag[0] != '+' && tag[0] != '.';
    if (!good)
        refuse("managedNodeTag", "must be one Proxmox tag (letters, digits, _ - + .), it is \"" + tag + "\"");
}

std::optional<IDRange> id_range(const api::v1alpha1::ProxmoxSpec& spec) {
    if (!spec.vmIDRange) return std::nullopt;
    const IDRange range{spec.vmIDRange->lower, spec.vmIDRange->upper};
    if (range.lower < kLowestID || range.upper > kHighestID || range.lower > range.upper) {
        refuse("vmIDRange", "must be a range within 100 to 999999999");
    }
    return range;
}

ProxmoxCredentials credentials_of(const ProviderConfig& config) {
    namespace keys = api::secret_keys;
    ProxmoxCredentials credentials;
    credentials.token_id = value_of(config, keys::kTokenID);
    credentials.token_secret = value_of(config, keys::kTokenSecret);
    credentials.username = value_of(config, keys::kProxmoxUsername);
    credentials.password = value_of(config, keys::kProxmoxPassword);
    const bool token = !credentials.token_id.empty() && !credentials.token_secret.empty();
    const bool user = !credentials.username.empty() && !credentials.password.empty();
    if (!token && !user) {
        const auto missing = !credentials.token_id.empty()   ? "PROXMOX_SECRET is missing"
                             : !credentials.username.empty() ? "PROXMOX_PASSWORD is missing"
                                                             : "PROXMOX_TOKEN_ID is missing";
        throw CredentialsError(
            "the credentials Secret needs PROXMOX_TOKEN_ID and PROXMOX_SECRET, or "
            "PROXMOX_USERNAME and PROXMOX_PASSWORD: " +
            std::string(missing));
    }
    if (token && credentials.token_id.find('!') == std::string::npos) {
        throw CredentialsError("PROXMOX_TOKEN_ID in the credentials Secret must read user@realm!name");
    }
    if (!token) credentials.token_id.clear();
    return credentials;
}

bool skips_verification(const ProviderConfig& config) {
    const auto value = value_of(config, api::secret_keys::kSkipTLSVerify);
    return value == "true" || value == "1" || value == "True" || value == "TRUE";
}

void check_template(const api::v1alpha1::ProxmoxSpec& spec) {
    if (!spec.template_) {
        if (spec.cloudInit && spec.cloudInit->custom) {
            refuse("cloudInit.custom", "needs a template; for a blank VM put cicustom into vmOptions");
        }
        return;
    }
    const auto& wish = *spec.template_;
    const int given = (wish.name.empty() ? 0 : 1) + (wish.vmid ? 1 : 0) + (wish.matchTags.empty() ? 0 : 1) +
                      (wish.image ? 1 : 0);
    if (given != 1) refuse("template", "exactly one of name, vmid, matchTags and image must be set");
    if (const auto fault = wish.image ? image_fault(*wish.image) : ""; !fault.empty())
        refuse("template.image", fault);
    // Proxmox knows these when a VM is created, not when a clone is configured.
    constexpr std::array<std::string_view, 4> kOfCreation = {"storage", "bwlimit", "ha-managed",
                                                             "import-working-storage"};
    for (const auto& option : spec.vmOptions) {
        if (std::ranges::find(kOfCreation, option.name) != kOfCreation.end())
            refuse("vmOptions", "option " + option.name + " is only for blank VMs; " +
                                    (option.name == "storage" ? "use template.storage" : "remove it"));
        if (option.name == wish.bootDisk.device) {
            refuse("vmOptions",
                   "option " + option.name + " would replace the template's boot disk; remove it");
        }
    }
}

}  // namespace

std::string endpoint_origin(const std::string& endpoint) {
    const auto url = base::parse_url(endpoint);
    auto path = url.path;
    while (path.ends_with('/')) path.pop_back();
    if (!path.empty() && path != "/api2/json") {
        throw std::invalid_argument("the path must be /api2/json, as in https://host:8006/api2/json");
    }
    return url.scheme + "://" + url.authority();
}

Settings make_settings(const ProviderConfig& config) {
    Settings settings;
    settings.provider_name = config.namespace_ + "/" + config.name;
    settings.provider_uid = config.uid;
    settings.cluster_id = config.cluster_id;
    settings.cluster_name = config.backend_cluster.name;
    settings.spec = spec_of(config);
    check_template(settings.spec);
    // With this name, templates of an image are found like templates that a person made.
    if (auto& wish = settings.spec.template_; wish && wish->image)
        wish->name = image_template_name(settings.cluster_id, settings.provider_uid, *wish);
    check_tag(settings.spec.managedNodeTag);
    const bool is_by_region = settings.spec.providerIDFormat == api::v1alpha1::ProviderIDFormat::Region;
    if (is_by_region && settings.spec.region.empty())
        refuse("region", "must be set for providerIDFormat Region");
    settings.ids = id_range(settings.spec);
    settings.vm_options = checked_vm_options(settings.spec.vmOptions);
    check_network_interfaces(settings.spec.networkInterfaces);
    return settings;
}

bool Settings::are_finished_later() const {
    return spec.template_.has_value() || !spec.resourcePool.empty() || !new_drives(vm_options).empty();
}

std::string Settings::provider_id(const std::string& cluster, const std::string& machine_id) const {
    const bool is_by_region = spec.providerIDFormat == api::v1alpha1::ProviderIDFormat::Region;
    return "proxmox://" + (is_by_region ? spec.region + "/" : cluster + "/vms/") + machine_id;
}

ProxmoxClientOptions make_client_options(const ProviderConfig& config) {
    const auto& spec = spec_of(config);
    ProxmoxClientOptions options;
    options.provider = {config.namespace_, config.name};
    options.provider_uid = config.uid;
    auto endpoints = spec.endpoints;
    if (!spec.endpoint.empty()) endpoints.insert(endpoints.begin(), spec.endpoint);
    for (const auto& endpoint : endpoints) {
        std::string origin;
        try {
            origin = endpoint_origin(endpoint);
        } catch (const std::invalid_argument& error) {
            refuse("endpoint", error.what());
        }
        if (std::ranges::find(options.endpoints, origin) == options.endpoints.end())
            options.endpoints.push_back(origin);
    }
    if (options.endpoints.empty()) refuse("endpoint", "must be set, e.g. https://host:8006/api2/json");
    options.tls.ca_bundle_pem = spec.tls.caBundle;
    if (!spec.tls.fingerprintSHA256.empty()) options.tls.fingerprint_sha256 = spec.tls.fingerprintSHA256;
    options.tls.insecure_skip_verify = spec.tls.insecureSkipVerify || skips_verification(config);
    options.credentials = credentials_of(config);
    options.cluster = config.backend_cluster;
    return options;
}

}  // namespace providers::proxmox
