// Handles taints of Nodes that neither pool, claim nor host declare. Network and storage agents put
// them on new Nodes and remove them once they run there. So they count as temporary on a young Node,
// and as permanent if they stay. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/claim_state.hpp"

namespace controllers::claim {

// TaintFacts holds a claim's Node and all that may declare taints for it. `pool` and
// `host` (of bare metal) may be null.
struct TaintFacts {
    const NodeSmithClaim& claim;
    const api::Node& node;
    const NodeSmithPool* pool = nullptr;
    const api::v1alpha1::HostSpec* host = nullptr;
};

// Returns the undeclared NoSchedule and NoExecute taints that still count as temporary. Taints that
// Kubernetes or this operator set on Nodes are not included.
std::vector<api::Taint> temporary_taints(const TaintFacts& facts, api::Time now);
// Returns a sentence that names these taints, their known owners, and how to declare them.
std::string undeclared_text(const std::vector<api::Taint>& taints, const std::string& pool);

// Updates the condition TaintsSettled and status.undeclaredTaints. Returns when time alone changes them.
std::optional<api::Time> note_taints(ClaimStatus& status, const TaintFacts& facts, api::Time now);

// Returns since when pods can be placed on the claim's Node; nullopt: not yet. That is when it was
// Initialized, or when its last temporary taint was removed.
std::optional<api::Time> usable_since(const NodeSmithClaim& claim);

}  // namespace controllers::claim

namespace controllers {

// Returns which undeclared taints new Nodes of the pool are expected to keep: those that its youngest Node
// kept. Known taints stay while there is no Node to judge by, and are tried again after growing pauses.
std::vector<api::v1alpha1::UndeclaredTaint> learn_taints(const NodeSmithPool& pool,
                                                         const ClaimPointers& claims, api::Time now);
// Reports whether the taint prevents machines from being created for pods now.
bool is_expected(const api::v1alpha1::UndeclaredTaint& taint, api::Time now);
// Explains for people which taints the pool's Nodes keep, with a remedy; empty: none.
std::string stays_text(const NodeSmithPool& pool);

}  // namespace controllers
