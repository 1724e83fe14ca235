// kubeconfig files: merges several, and converts one context into a ClusterConfig.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <vector>

#include "kube/config.hpp"

namespace kube {

struct Kubeconfig {
    struct Entry {
        boost::json::object body;  // the "cluster", "context" or "user"
        std::string file;          // its file, for messages and relative paths
    };
    std::map<std::string, Entry> clusters;
    std::map<std::string, Entry> contexts;
    std::map<std::string, Entry> users;
    std::string current_context;
    std::vector<std::string> files;
};

// Reads the files. The first one with an entry or current context wins. Throws ConfigError.
Kubeconfig read_kubeconfig(const std::vector<std::string>& paths);
// Returns the context, cluster and user that the options name; empty: the current context and its own. Throws
// ConfigError.
ClusterConfig resolve_context(const Kubeconfig& kubeconfig, const ConfigOptions& options);

}  // namespace kube
