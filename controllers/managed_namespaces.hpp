// In which namespaces objects of our kinds do anything: those whose writers the cluster's administrator
// trusts.
#pragma once

#include <set>
#include <string>
#include <vector>

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

private:
    std::set<std::string> names_;  // none: all
};

}  // namespace controllers
