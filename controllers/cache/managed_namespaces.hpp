// In which namespaces objects of our kinds do anything: those whose writers the cluster's administrator
// trusts.
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
    ManagedNamespaces() = default;  // all of them
    // "*" among them is all. Throws std::invalid_argument on a name that no namespace can have, and on none.
    explicit ManagedNamespaces(const std::vector<std::string>& names);

    bool all() const { return names_.empty(); }
    bool contains(const std::string& namespace_) const { return all() || names_.contains(namespace_); }
    // "kubenodesmith, lab", or "*".
    std::string str() const;
    // What to list to see all that is in them: each by its name, or "", which is all namespaces at once.
    std::vector<std::string> to_list() const;
    // What the author of an object there is told: that it does nothing, and how to change that.
    std::string why_unmanaged(const std::string& namespace_) const;

private:
    std::set<std::string> names_;  // none: all
};

// As the flag --namespaces names them. Without it the one that this pod runs in, or all where whoever starts
// the program by hand acts with rights of his own. Throws std::invalid_argument naming the flag and what
// would be right.
ManagedNamespaces managed_namespaces_of(const std::vector<std::string>& flag,
                                        const kube::ClusterConfig& config);

}  // namespace controllers
