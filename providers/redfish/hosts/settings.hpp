// What a Redfish provider was configured with, checked.
#pragma once

#include <string>

#include "providers/environment.hpp"

namespace providers::redfish {

struct Settings {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string cluster_id;
    api::v1alpha1::RedfishSpec spec;
    std::string username;  // for hosts without a Secret of their own; empty: there is none
    std::string password;
    std::string credentials_version;

    std::string provider_id(const std::string& host) const { return "redfish://" + name + "/" + host; }
};

// Throws std::invalid_argument or CredentialsError that name what is wrong.
Settings make_settings(const ProviderConfig& config);
// username and password of a Secret. Throws CredentialsError naming the key that is missing; `secret` names
// it.
std::pair<std::string, std::string> credentials_of(const std::map<std::string, std::string>& data,
                                                   const std::string& secret);

}  // namespace providers::redfish
