// Why a pod waits, why a node stays, what a claim or a pool waits for: in sentences.
#pragma once

#include <string>

#include "api/meta.hpp"
#include "operator/plan/cluster_snapshot.hpp"

namespace kubenodesmith {

// All throw ViewError if there is no such object.
std::string explain_pod(ClusterSnapshot& view, const api::ObjectKey& key);
std::string explain_node(ClusterSnapshot& view, const std::string& name);
// An empty namespace means: the only claim of that name in any.
std::string explain_claim(ClusterSnapshot& view, const api::ObjectKey& key);
// An empty namespace means: all pools of that name.
std::string explain_pool(ClusterSnapshot& view, const api::ObjectKey& key);

}  // namespace kubenodesmith
