// The namespace of the Lease for a process that is started by hand.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "controllers/cache/managed_namespaces.hpp"
#include "kube/client.hpp"

namespace kubenodesmith {

// Namespace of the operator in the manifests and in the chart's documentation.
inline constexpr const char* kSystemNamespace = "kubenodesmith-system";

// Returns the namespace of the most recently renewed Lease with this name in kubenodesmith-system and the
// managed namespaces. So a process started by hand never leads beside one that runs in the cluster. Without
// such a Lease it is kubenodesmith-system, which is created if it is missing. Any tenant can create a Lease
// in the tenant's namespace, so Leases elsewhere decide nothing; a person must choose one. Retries until it
// succeeds.
kube::asio::awaitable<std::string> find_lease_namespace(kube::Client& client, base::Clock& clock,
                                                        std::string name,
                                                        controllers::ManagedNamespaces managed);

}  // namespace kubenodesmith
