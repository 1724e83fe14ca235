// RBAC in memory: which rights manifests grant one ServiceAccount, and which rights its requests need.
#pragma once

#include <boost/json/array.hpp>
#include <compare>
#include <set>
#include <string>
#include <vector>

#include "base/http.hpp"
#include "test/support/fake_api_store.hpp"

namespace fake {

// One verb on one resource: what a request needs, or what a role grants.
struct Right {
    std::string verb;
    std::string group;       // "" = core
    std::string resource;    // plural, with its subresource: "pods/eviction"
    std::string namespace_;  // "" = all namespaces, or the resource has none
    std::string name;        // "" = any

    auto operator<=>(const Right&) const = default;
    std::string text() const;
};

class Rights {
public:
    // Reads Roles, ClusterRoles and their bindings. Each binding in `manifests` counts, whoever its subject
    // is.
    explicit Rights(const json::array& manifests);

    // Binds a ClusterRole of the manifests in one more namespace.
    void bind(const std::string& role, const std::string& namespace_);
    bool allow(const Right& asked) const;

private:
    void grant(const json::object& role, const std::string& namespace_);

    std::vector<json::object> roles_;
    std::set<Right> granted_;
};

// The rights that the request needs, also those that admission plugins and our admission policy ask about.
// Empty: it is no request for a resource. Takes the store for the signer of a certificate's request.
std::vector<Right> needed_rights(const base::HttpRequest& request, const Store& store);

}  // namespace fake
