#include "providers/redfish/hosts/settings.hpp"

#include "api/names.hpp"
#include "providers/errors.hpp"

namespace providers::redfish {

std::pair<std::string, std::string> credentials_of(const std::map<std::string, std::string>& data,
                                                   const std::string& secret) {
    const auto value = [&](std::string_view key) {
        const auto found = data.find(std::string(key));
        if (found == data.end() || found->second.empty())
            throw CredentialsError(secret + " needs the key " + std::string(key));
        return found->second;
    };
    return {value(api::secret_keys::kUsername), value(api::secret_keys::kPassword)};
}

RedfishSettings make_settings(const ProviderConfig& config) {
    RedfishSettings settings;
    settings.namespace_ = config.namespace_;
    settings.name = config.name;
    settings.uid = config.uid;
    settings.cluster_id = config.cluster_id;
    settings.credentials_version = config.credentials_version;
    settings.spec = config.spec.redfish.value_or(api::v1alpha1::RedfishSpec{});
    const auto& spec = settings.spec;
    if (spec.concurrency.global < 1)
        throw std::invalid_argument("spec.redfish.concurrency.global: at least 1");
    if (spec.concurrency.perBMC < 1)
        throw std::invalid_argument("spec.redfish.concurrency.perBMC: at least 1");
    if (spec.concurrency.powerOns < 1)
        throw std::invalid_argument("spec.redfish.concurrency.powerOns: at least 1");
    if (spec.boot.method == api::v1alpha1::BootMethod::VirtualMedia && spec.boot.imageURL.empty())
        throw std::invalid_argument("spec.redfish.boot: method VirtualMedia needs imageURL");
    if (config.spec.credentialsSecretRef) {
        std::tie(settings.username, settings.password) =
            credentials_of(config.credentials, "Secret " + config.spec.credentialsSecretRef->name +
                                                   " (spec.credentialsSecretRef)");
    }
    return settings;
}

}  // namespace providers::redfish
