// The checked configuration of a Redfish provider.
#pragma once

#include <string>

#include "providers/environment.hpp"

namespace providers::redfish {

struct RedfishSettings {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string cluster_id;
    api::v1alpha1::RedfishSpec spec;
    std::string username;  // for hosts without their own Secret; empty: none
    std::string password;
    std::string credentials_version;

    std::string provider_id(const std::string& host) const { return "redfish://" + name + "/" + host; }
};

// Reports whether a mark in the AssetTag of hosts shows who has them.
inline bool locks_hosts(const RedfishSettings& settings) {
    return settings.spec.hostLock.field == api::v1alpha1::HostLockField::AssetTag;
}

// Throws std::invalid_argument or CredentialsError with the invalid part.
RedfishSettings make_settings(const ProviderConfig& config);
// Returns username and password from a Secret. Throws CredentialsError with the missing key; `secret` is its
// name in the message.
std::pair<std::string, std::string> credentials_of(const std::map<std::string, std::string>& data,
                                                   const std::string& secret);

}  // namespace providers::redfish
