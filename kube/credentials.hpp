// Our current credentials for the API server, from values, files that rotate, or an exec plugin.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "api/time.hpp"
#include "base/clock.hpp"
#include "kube/config.hpp"

namespace kube {

struct Credentials {
    std::string bearer_token;  // empty: no token
    std::string ca_bundle_pem;
    std::string client_certificate_pem;
    std::string client_key_pem;
    std::optional<api::Time> expires;
    bool operator==(const Credentials&) const = default;
};

// Throws std::runtime_error with the file's name, never its content.
Credentials read_credentials(const ClusterConfig& config);
// Adds the output of a plugin (ExecCredential). Throws std::runtime_error or std::invalid_argument.
void add_plugin_output(const std::string& output, Credentials& credentials);

// Runs the plugin and adds its output. Throws std::runtime_error with the plugin's name, never its output.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
asio::awaitable<Credentials> run_plugin(base::Clock& clock, ClusterConfig config, Credentials credentials);

}  // namespace kube
