// In which namespace a process that is started by hand looks for the Lease.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "kube/client.hpp"

namespace kubenodesmith {

// Where the manifests and the chart's documentation put the operator.
inline constexpr const char* kSystemNamespace = "kubenodesmith-system";

// That of the Lease of this name which was renewed last, so that a process started by hand never leads beside
// one that runs in the cluster, wherever that was installed; else kubenodesmith-system, which is made if it
// is missing. Tries until it succeeds.
kube::asio::awaitable<std::string> find_lease_namespace(kube::Client& client, base::Clock& clock,
                                                        std::string name);

}  // namespace kubenodesmith
