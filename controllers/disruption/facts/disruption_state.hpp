// Reads a running disruption from a claim's status and its Node. That is all a process needs to continue one
// that another process began. Pure.
#pragma once

#include <optional>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/disruption/facts/blocker.hpp"

namespace controllers::disruption {

// Returns the disruption that was decided (condition Disrupted=True with that reason) and not
// given up; nullopt for a deleted claim.
std::optional<Kind> under_way(const NodeSmithClaim& claim);
// Returns when it was decided.
api::Time decided_at(const NodeSmithClaim& claim);
// Returns when the evictions of a running disruption began; nullopt: not yet.
std::optional<api::Time> drain_began(const NodeSmithClaim& claim);
// Returns when a drain stops waiting for pods; nullopt: it is given up at its timeout instead.
std::optional<api::Time> drain_deadline(const NodeSmithClaim& claim,
                                        const api::v1alpha1::ScaleDown& scale_down);
// This reason of Disrupted=False means that machines for the node's pods were not ready in time.
inline constexpr std::string_view kReplacementTimeout = "ReplacementTimeout";

// The message of Disrupted=False starts with this text.
inline constexpr std::string_view kNodeStays = "the node stays: ";
// Returns why a disruption of that kind was given up less than five minutes ago and must not be repeated;
// nullopt: none was. The claim alone is read, so a new leader waits equally long.
std::optional<Blocker> undone_lately(const NodeSmithClaim& claim, Kind kind, api::Time now);

// Reports whether machines may be created in place of nodes. Each time that such machines do
// not become ready, the pause doubles.
bool may_replace(const NodeSmithPool& pool, api::Time now);
api::v1alpha1::ReplacementPause paused_again(const NodeSmithPool& pool, api::Time now);

// This condition of a pool reports that its pods would fit on fewer nodes, judged by sums.
inline constexpr std::string_view kConsolidatable = "Consolidatable";

// Reports whether the node is being created or in service, and no decision was made against it.
bool is_staying(const NodeSmithClaim& claim);
// Reports whether the leaving node still counts as a domain of hard spreads, as in the kube-scheduler. Its
// pods must run elsewhere first, or a budget keeps them there for minutes.
bool is_domain_until_gone(const NodeSmithClaim& claim, api::Time now);
// Reports whether its power is being switched off and on again.
bool is_power_cycling(const NodeSmithClaim& claim);

bool has_leaving_taint(const api::Node& node);
// Returns the node without our taint and what belongs to it.
api::Node back_in_service(const api::Node& node);

}  // namespace controllers::disruption
