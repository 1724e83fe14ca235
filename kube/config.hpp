// Address of the API server and our credentials, from a kubeconfig or from inside the cluster. The order is:
// flag, KUBECONFIG (a list, merged), in-cluster, ~/.kube/config.
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/http_client.hpp"

namespace kube {

namespace asio = boost::asio;

struct ConfigOptions {
    std::string kubeconfig;                       // --kubeconfig; empty: the order above
    std::string context;                          // --context; empty: current-context
    std::string cluster;                          // --cluster; empty: the context's
    std::string user;                             // --user; empty: the context's
    std::string as;                               // --as: whom to impersonate; empty: nobody
    std::vector<std::string> as_groups;           // --as-group
    std::optional<base::Duration> most_per_call;  // --request-timeout; nullopt: the client's own
};

// ConfigError is an invalid or missing configuration. Its what() names the file and field and the correction.
class ConfigError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct ExecCredential {
    std::string command;  // a name to find in PATH, or an absolute path
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;
    std::string api_version;
    std::string install_hint;  // shown if the command does not exist
    bool provide_cluster_info = false;
};

struct ClusterConfig {
    std::string source;  // used in the log: the file and context, or "in-cluster"
    base::HttpClientOptions http;
    std::string path_prefix;  // path in the server's URL: "/k8s/clusters/c-1", or empty
    std::string namespace_;   // of the context or the service account; empty: no namespace
    std::string bearer_token;
    // These files are read again as they rotate. They override the values above and in http.tls.
    std::string token_file;
    std::string ca_file;
    std::string client_certificate_file;
    std::string client_key_file;
    std::optional<ExecCredential> exec;
    std::string impersonated_user;  // empty: nobody is impersonated
    std::vector<std::string> impersonated_groups;
    std::optional<base::Duration> most_per_call;

    bool is_in_cluster() const { return source == kInCluster; }
    static constexpr const char* kInCluster = "in-cluster";
};

// ConfigEnvironment is what load_config reads besides files named by a flag. Tests replace it.
struct ConfigEnvironment {
    std::function<std::string(const char*)> variable;  // returns an empty text if unset
    std::string service_account_directory = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// Throws ConfigError.
ClusterConfig load_config(const ConfigOptions& options);
ClusterConfig load_config(const ConfigOptions& options, const ConfigEnvironment& environment);

}  // namespace kube
