// Explains why a pod waits, why a node is kept, and what our objects wait for.
#pragma once

#include <string>
#include <vector>

#include "api/meta.hpp"
#include "operator/explain/explanation.hpp"

namespace kubenodesmith {

// All functions throw ViewError if there is no such object. An empty namespace means the only object of that
// name in any namespace.
Explanation explain_pod(ClusterSnapshot& view, const api::ObjectKey& key);
Explanation explain_node(ClusterSnapshot& view, const std::string& name);
Explanation explain_claim(ClusterSnapshot& view, const api::ObjectKey& key);
// For the following functions, an empty namespace means all objects of that name.
std::vector<Explanation> explain_pool(ClusterSnapshot& view, const api::ObjectKey& key);
std::vector<Explanation> explain_provider(ClusterSnapshot& view, const api::ObjectKey& key);
std::vector<Explanation> explain_host(ClusterSnapshot& view, const api::ObjectKey& key);
std::vector<Explanation> explain_control_plane(ClusterSnapshot& view, const api::ObjectKey& key);

}  // namespace kubenodesmith
