// Where the operator runs in a cluster, as far as its labels tell.
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

// The Deployments with the label app.kubernetes.io/name=kubenodesmith. None if this user may not list these.
boost::asio::awaitable<std::vector<OperatorDeployment>> find_operators(kube::Client& client);

}  // namespace kubenodesmith
