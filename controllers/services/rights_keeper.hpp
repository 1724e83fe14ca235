// RightsKeeper keeps the operator's rights on the Secrets of a namespace while one of them has our finalizer.
// A deleted namespace loses the RoleBinding that grants the rights, so the finalizer could never be removed.
// A second RoleBinding with our finalizer grants the same rights as long as they are needed.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <set>
#include <string>

#include "api/core.hpp"
#include "kube/client.hpp"

namespace controllers {

namespace asio = boost::asio;

// These are the ClusterRole and the RoleBinding of config/rbac/managed_namespaces.yaml.
inline constexpr const char* kCredentialsRole = "kubenodesmith-credentials";
inline constexpr const char* kCredentialsInUse = "kubenodesmith-credentials-in-use";

class RightsKeeper {
public:
    // `client` must outlive this object. `role` is the ClusterRole that grants the rights.
    RightsKeeper(kube::Client& client, std::string role) : client_(client), role_(std::move(role)) {}

    // Creates the RoleBinding, unless the rights hold in the whole cluster. One that is being deleted is
    // recreated, unless its namespace is being deleted too. Throws ApiError.
    asio::awaitable<void> keep(std::string namespace_);
    // Removes the RoleBinding if it exists. Missing rights are no failure. Throws ApiError.
    asio::awaitable<void> give_up(std::string namespace_);

private:
    asio::awaitable<bool> has_rights_everywhere();
    asio::awaitable<boost::json::object> subject();
    asio::awaitable<bool> is_ending(std::string namespace_);
    asio::awaitable<api::RoleBinding> apply(std::string namespace_);
    asio::awaitable<void> drop_finalizer(kube::ObjectKey key);

    kube::Client& client_;
    std::string role_;
    std::set<std::string> kept_;  // namespaces
};

}  // namespace controllers
