// In which namespace a process that is started by hand looks for the Lease.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "controllers/cache/managed_namespaces.hpp"
#include "kube/client.hpp"

namespace kubenodesmith {

// Where the manifests and the chart's documentation put the operator.
inline constexpr const char* kSystemNamespace = "kubenodesmith-system";

// Returns the namespace of the Lease of this name that was renewed last in kubenodesmith-system and the
// managed namespaces, so that a process started by hand never leads beside one that runs in the cluster.
// Without one it is kubenodesmith-system, which is made if it is missing. Any tenant can make a Lease in a
// namespace of his own: Leases elsewhere decide nothing, but a person has to say which one counts. Tries
// until it succeeds.
kube::asio::awaitable<std::string> find_lease_namespace(kube::Client& client, base::Clock& clock,
                                                        std::string name,
                                                        controllers::ManagedNamespaces managed);

}  // namespace kubenodesmith
