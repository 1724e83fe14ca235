// RBAC in memory: which rights the manifests grant one ServiceAccount, and which rights its requests need.
#pragma once

#include <boost/json/array.hpp>
#include <compare>
#include <set>
#include <string>
#include <vector>

#include "base/http.hpp"
#include "test/support/fake_api_store.hpp"

namespace fake {

// Right is one verb on one resource, needed by a request or granted by a role.
struct Right {
    std::string verb;
    std::string group;       // "" = the core group
    std::string resource;    // plural, with its subresource: "pods/eviction"
    std::string namespace_;  // "" = all namespaces, or a resource without namespaces
    std::string name;        // "" = any

    auto operator<=>(const Right&) const = default;
    std::string text() const;
};

class Rights {
public:
    // Reads Roles, ClusterRoles and their bindings. Each binding in `manifests` counts, whatever its subject.
    explicit Rights(const json::array& manifests);

    // Binds a ClusterRole of the manifests in a further namespace.
    void bind(const std::string& role, const std::string& namespace_);
    bool allow(const Right& asked) const;

private:
    void grant(const json::object& role, const std::string& namespace_);

    std::vector<json::object> roles_;
    std::set<Right> granted_;
};

// Returns the rights that the request needs, including those that admission plugins and our admission policy
// demand. Returns none if the request is not for a resource. Reads the signer of a certificate's request from
// the store.
std::vector<Right> needed_rights(const base::HttpRequest& request, const Store& store);

}  // namespace fake
