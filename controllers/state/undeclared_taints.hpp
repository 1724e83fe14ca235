// Taints of Nodes that neither pool, claim nor host declare. Network and storage agents put them on new Nodes
// and take them off once they run there, so they count as temporary on a young Node, and as permanent if they
// stay. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/state/claim_state.hpp"

namespace api::conditions {
// Of a claim whose young Node had a taint that its pool does not declare. False: the taint is there.
inline constexpr std::string_view kTaintsSettled = "TaintsSettled";
// Of a pool, only while it is True: its youngest Node keeps such a taint.
inline constexpr std::string_view kUndeclaredTaints = "UndeclaredTaints";
}  // namespace api::conditions
namespace api::reasons {
inline constexpr std::string_view kTaintNotDeclared = "TaintNotDeclared";  // TaintsSettled
inline constexpr std::string_view kTaintsGone = "TaintsGone";              // TaintsSettled
inline constexpr std::string_view kTaintStays = "TaintStays";              // TaintsSettled, UndeclaredTaints
}  // namespace api::reasons

namespace controllers::claim {

// A claim's Node and all that may declare taints for it; `pool` and `host` (of bare metal) may be null.
struct TaintFacts {
    const NodeSmithClaim& claim;
    const api::Node& node;
    const NodeSmithPool* pool = nullptr;
    const api::v1alpha1::HostSpec* host = nullptr;
};

// Returns the undeclared NoSchedule and NoExecute taints that still count as temporary. Taints that
// Kubernetes or this operator set on Nodes are not among them.
std::vector<api::Taint> temporary_taints(const TaintFacts& facts, api::Time now);
// Returns a sentence that names these taints, who is known for them, and how to declare them.
std::string undeclared_text(const std::vector<api::Taint>& taints, const std::string& pool);

// Brings the condition TaintsSettled and status.undeclaredTaints up to date. Returns when time alone changes
// them.
std::optional<api::Time> note_taints(ClaimStatus& status, const TaintFacts& facts, api::Time now);

// Returns since when pods can be placed on the claim's Node: since it was Initialized, or since the last
// temporary taint was taken off. nullopt: they cannot yet.
std::optional<api::Time> usable_since(const NodeSmithClaim& claim);

}  // namespace controllers::claim

namespace controllers {

// Returns which undeclared taints new Nodes of the pool are expected to keep: those that its youngest Node
// kept. What was known before stays while there is no Node to judge by, and is tried again after growing
// pauses.
std::vector<api::v1alpha1::UndeclaredTaint> learn_taints(const NodeSmithPool& pool,
                                                         const ClaimPointers& claims, api::Time now);
// Reports whether the taint keeps machines from being created for pods now.
bool is_expected(const api::v1alpha1::UndeclaredTaint& taint, api::Time now);
// Explains to people what the pool's Nodes keep and what to do; empty: nothing.
std::string stays_text(const NodeSmithPool& pool);

}  // namespace controllers
