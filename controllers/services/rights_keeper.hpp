// RightsKeeper keeps the operator's rights on the Secrets of a namespace while one of them carries our
// finalizer. When a namespace is deleted, so is the RoleBinding that gives the rights, and nobody could take
// the finalizer off again. A second RoleBinding with our finalizer gives the same rights for as long as they
// are needed.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <set>
#include <string>

#include "kube/client.hpp"

namespace controllers {

namespace asio = boost::asio;

// The ClusterRole and the RoleBinding of config/rbac/managed_namespaces.yaml.
inline constexpr const char* kCredentialsRole = "kubenodesmith-credentials";
inline constexpr const char* kCredentialsInUse = "kubenodesmith-credentials-in-use";

class RightsKeeper {
public:
    // `client` must outlive this. `role`: the ClusterRole that gives the rights.
    RightsKeeper(kube::Client& client, std::string role) : client_(client), role_(std::move(role)) {}

    // Makes the RoleBinding, unless the rights hold in the whole cluster; one that is being deleted is made
    // anew, unless its namespace is being deleted as well (`namespace_ends`). Throws ApiError.
    asio::awaitable<void> keep(std::string namespace_, bool namespace_ends);
    // Removes it if it is there. It is no failure if the rights are gone already. Throws ApiError.
    asio::awaitable<void> give_up(std::string namespace_);

private:
    asio::awaitable<bool> has_rights_everywhere();
    asio::awaitable<boost::json::object> subject();
    asio::awaitable<api::RoleBinding> apply(std::string namespace_);
    asio::awaitable<void> drop_finalizer(kube::ObjectKey key);

    kube::Client& client_;
    std::string role_;
    std::set<std::string> kept_;  // namespaces
};

}  // namespace controllers
