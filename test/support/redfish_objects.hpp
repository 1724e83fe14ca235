// Builds a Redfish provider named rack, its credentials and its hosts, as users write them.
#pragma once

#include <string>

#include "api/core.hpp"
#include "api/v1alpha1/host.hpp"
#include "api/v1alpha1/provider.hpp"

namespace test {

inline api::Secret bmc_credentials(const std::string& password) {
    api::Secret secret;
    secret.metadata.name = "bmc";
    secret.metadata.namespace_ = "default";
    secret.data = {{"username", api::Bytes{"admin"}}, {"password", api::Bytes{password}}};
    return secret;
}

inline api::v1alpha1::NodeSmithProvider rack_provider() {
    api::v1alpha1::NodeSmithProvider provider;
    provider.metadata.name = "rack";
    provider.metadata.namespace_ = "default";
    provider.metadata.generation = 1;
    provider.spec.type = api::v1alpha1::ProviderType::redfish;
    provider.spec.redfish.emplace();
    provider.spec.credentialsSecretRef = api::v1alpha1::SecretReference{"bmc", ""};
    return provider;
}

// Returns a host whose BMC answers at https://<name>.
inline api::v1alpha1::NodeSmithHost rack_host(const std::string& name) {
    api::v1alpha1::NodeSmithHost host;
    host.metadata.name = name;
    host.metadata.namespace_ = "default";
    host.metadata.generation = 1;
    host.spec.providerRef = "rack";
    host.spec.bmc.address = "https://" + name;
    return host;
}

}  // namespace test
