// Handles undeclared taints in the solver. Some young Nodes wait until another program removes theirs. New
// Nodes of some pools are expected to keep some. Pure.
#pragma once

#include <string>
#include <vector>

#include "controllers/claim/facts/undeclared_taints.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers::provisioning {

// Adds the taints to the pool, so that it launches no machines for pods that do not tolerate them.
void expect_taints(scheduling::Pool& pool, const std::vector<api::v1alpha1::UndeclaredTaint>& taints,
                   api::Time now);

// Makes the solver ignore the Node's temporary taints. Returns what the Node
// waits for, for people; empty: nothing.
std::string look_past_taints(scheduling::NodeInfo& node, const claim::TaintFacts& facts, api::Time now);

}  // namespace controllers::provisioning
