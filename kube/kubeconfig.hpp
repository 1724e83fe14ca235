// kubeconfig files: several merged into one, and one context of it as a ClusterConfig.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <vector>

#include "kube/config.hpp"

namespace kube {

struct Kubeconfig {
    struct Entry {
        boost::json::object body;  // of "cluster", "context" or "user"
        std::string file;          // where it was, for messages and relative paths
    };
    std::map<std::string, Entry> clusters;
    std::map<std::string, Entry> contexts;
    std::map<std::string, Entry> users;
    std::string current_context;
    std::vector<std::string> files;
};

// The first file that names an entry or the current context wins. Throws ConfigError.
Kubeconfig read_kubeconfig(const std::vector<std::string>& paths);
// Uses the context, cluster and user that the options name, else the current context and its own. Throws
// ConfigError.
ClusterConfig resolve_context(const Kubeconfig& kubeconfig, const ConfigOptions& options);

}  // namespace kube
