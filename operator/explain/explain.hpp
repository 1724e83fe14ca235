// Why a pod waits, why a node stays, what a claim, pool, provider, host or control plane waits for.
#pragma once

#include <string>
#include <vector>

#include "api/meta.hpp"
#include "operator/explain/explanation.hpp"

namespace kubenodesmith {

// All throw ViewError if there is no such object. An empty namespace means: the only one of that name in any.
Explanation explain_pod(ClusterSnapshot& view, const api::ObjectKey& key);
Explanation explain_node(ClusterSnapshot& view, const std::string& name);
Explanation explain_claim(ClusterSnapshot& view, const api::ObjectKey& key);
// An empty namespace means: all of that name.
std::vector<Explanation> explain_pool(ClusterSnapshot& view, const api::ObjectKey& key);
std::vector<Explanation> explain_provider(ClusterSnapshot& view, const api::ObjectKey& key);
std::vector<Explanation> explain_host(ClusterSnapshot& view, const api::ObjectKey& key);
std::vector<Explanation> explain_control_plane(ClusterSnapshot& view, const api::ObjectKey& key);

}  // namespace kubenodesmith
