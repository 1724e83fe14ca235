// Finds the operator's Deployments in a cluster by their label.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "kube/client.hpp"

namespace kubenodesmith {

struct OperatorDeployment {
    api::ObjectKey key;
    std::string image;
    std::string service_account;
    std::int64_t replicas = 0;
    std::int64_t available = 0;
};

// Returns the Deployments with the label app.kubernetes.io/name=kubenodesmith. Returns none if this user may
// not list Deployments.
boost::asio::awaitable<std::vector<OperatorDeployment>> find_operators(kube::Client& client);

}  // namespace kubenodesmith
