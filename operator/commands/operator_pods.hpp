// Finds the operator's Deployments in a cluster by their label.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "controllers/cache/managed_namespaces.hpp"
#include "kube/client.hpp"

namespace kubenodesmith {

struct OperatorDeployment {
    api::ObjectKey key;
    std::string image;
    std::string service_account;
    std::int64_t replicas = 0;
    std::int64_t available = 0;
    // The rest follows from the flags of the container.
    bool elects_leader = true;
    api::ObjectKey lease;
    controllers::ManagedNamespaces managed;
};

// Reads a Deployment of the API. Flags that this program does not know, such as those of a newer operator,
// have no effect.
OperatorDeployment deployment_of(const boost::json::value& document);
// Reports whether both operators manage one namespace, where they would act against each other.
bool overlap(const OperatorDeployment& one, const OperatorDeployment& other);

// Returns the Deployments with the label app.kubernetes.io/name=kubenodesmith. Returns none if this user may
// not list Deployments.
boost::asio::awaitable<std::vector<OperatorDeployment>> find_operators(kube::Client& client);

}  // namespace kubenodesmith
