#include "kube/config.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "kube/kubeconfig.hpp"

namespace kube {
namespace {

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

// Returns KUBECONFIG's entries that exist.
std::vector<std::string> listed_files(const std::string& list) {
    std::vector<std::string> paths;
    for (std::size_t start = 0; start <= list.size();) {
        const auto end = std::min(list.find(':', start), list.size());
        const auto path = list.substr(start, end - start);
        if (!path.empty() && exists(path)) paths.push_back(path);
        start = end + 1;
    }
    return paths;
}

std::string without_line_end(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
        text.pop_back();
    return text;
}

// https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
ClusterConfig in_cluster(const std::string& host, const std::string& port, const std::string& directory) {
    ClusterConfig config;
    config.source = ClusterConfig::kInCluster;
    const bool is_ipv6 = host.find(':') != std::string::npos;
    config.http.url = "https://" + (is_ipv6 ? '[' + host + ']' : host) + ':' + port;
    config.token_file = directory + "/token";
    config.ca_file = directory + "/ca.crt";
    if (exists(directory + "/namespace")) {
        config.namespace_ = without_line_end(base::read_file(directory + "/namespace"));
    }
    if (!exists(config.ca_file)) throw ConfigError("in-cluster: " + config.ca_file + " is missing");
    return config;
}

ClusterConfig find_config(const ConfigOptions& options, const ConfigEnvironment& environment) {
    const auto from_files = [&options](const std::vector<std::string>& paths) {
        return resolve_context(read_kubeconfig(paths), options);
    };
    if (!options.kubeconfig.empty()) return from_files({options.kubeconfig});

    const auto list = environment.variable("KUBECONFIG");
    if (!list.empty()) {
        const auto paths = listed_files(list);
        if (paths.empty()) throw ConfigError("KUBECONFIG=" + list + ": there is no such file");
        return from_files(paths);
    }
    const auto host = environment.variable("KUBERNETES_SERVICE_HOST");
    const auto port = environment.variable("KUBERNETES_SERVICE_PORT");
    const auto& directory = environment.service_account_directory;
    if (!host.empty() && !port.empty() && exists(directory + "/token"))
        return in_cluster(host, port, directory);

    const auto usual = environment.variable("HOME") + "/.kube/config";
    if (exists(usual)) return from_files({usual});
    throw ConfigError("no cluster is configured: give --kubeconfig, set KUBECONFIG, create " + usual +
                      ", or run in a pod with a service account token");
}

}  // namespace

ClusterConfig load_config(const ConfigOptions& options) {
    ConfigEnvironment environment;
    environment.variable = base::environment_variable;
    return load_config(options, environment);
}

ClusterConfig load_config(const ConfigOptions& options, const ConfigEnvironment& environment) {
    for (const char* name : {"HTTPS_PROXY", "https_proxy"})
        if (!environment.variable(name).empty())
            base::log::info("The variable has no effect; a proxy is named as proxy-url in the kubeconfig",
                            {{"variable", name}});
    auto config = find_config(options, environment);
    config.impersonated_user = options.as;
    config.impersonated_groups = options.as_groups;
    config.most_per_call = options.most_per_call;
    return config;
}

}  // namespace kube
