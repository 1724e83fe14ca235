// Decides in which namespaces objects of our kinds have an effect. The cluster's administrator
// trusts the writers of these namespaces.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace kube {
struct ClusterConfig;
}

namespace controllers {

class ManagedNamespaces {
public:
    ManagedNamespaces() = default;  // all namespaces
    // Accepts "*" as all namespaces. Throws std::invalid_argument if the list
    // is empty or has an invalid name.
    explicit ManagedNamespaces(const std::vector<std::string>& names);

    bool all() const { return names_.empty(); }
    bool contains(const std::string& namespace_) const { return all() || names_.contains(namespace_); }
    // Returns "kubenodesmith, lab", or "*".
    std::string str() const;
    // Returns what to list in order to see all objects: each namespace, or "" for all namespaces together.
    std::vector<std::string> to_list() const;
    // Returns the message for the author of an unmanaged object: that it has no
    // effect, and how to change that.
    std::string why_unmanaged(const std::string& namespace_) const;

private:
    std::set<std::string> names_;  // empty: all
};

// Parses the flag --namespaces. Its default is this pod's namespace. If a person runs the program by
// hand with personal rights, the default is all namespaces. Throws std::invalid_argument that names the
// flag and explains correct values.
ManagedNamespaces managed_namespaces_of(const std::vector<std::string>& flag,
                                        const kube::ClusterConfig& config);

}  // namespace controllers
