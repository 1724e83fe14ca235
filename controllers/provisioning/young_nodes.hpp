// Undeclared taints in the solve: young Nodes that wait until somebody takes theirs off, and pools whose new
// Nodes are expected to keep some. Pure.
#pragma once

#include <string>
#include <vector>

#include "controllers/state/undeclared_taints.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers::provisioning {

// Pods that do not tolerate them get no machine of the pool.
void expect_taints(scheduling::Pool& pool, const std::vector<api::v1alpha1::UndeclaredTaint>& taints,
                   api::Time now);

// Makes the solve look past the Node's temporary taints. Returns what it waits for, for people; empty:
// nothing.
std::string look_past_taints(scheduling::Node& node, const claim::TaintFacts& facts, api::Time now);

}  // namespace controllers::provisioning
