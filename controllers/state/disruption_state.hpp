// What a claim's status and its Node say about a disruption that is under way: all that a process needs to go
// on with one that another process began. Pure.
#pragma once

#include <optional>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/state/blocker.hpp"

namespace controllers::disruption {

// A disruption was decided (condition Disrupted=True with that reason) and not given up, and the claim lives.
std::optional<Kind> under_way(const NodeSmithClaim& claim);
// When it was decided.
api::Time decided_at(const NodeSmithClaim& claim);
// Of one under way: when its pods began to be evicted; nullopt: not yet.
std::optional<api::Time> drain_began(const NodeSmithClaim& claim);
// Of one that drains: from when on pods are not waited for; nullopt: it is given up at its timeout instead.
std::optional<api::Time> drain_deadline(const NodeSmithClaim& claim,
                                        const api::v1alpha1::ScaleDown& scale_down);
// Reason of Disrupted=False: machines for the pods of the node did not come in time.
inline constexpr std::string_view kReplacementTimeout = "ReplacementTimeout";

// Begins the message of Disrupted=False.
inline constexpr std::string_view kNodeStays = "the node stays: ";
// Why a disruption of that kind was given up less than five minutes ago, so that it is not begun again;
// nullopt: none was. Only what is written at the claim counts, so that a new leader waits as long.
std::optional<Blocker> undone_lately(const NodeSmithClaim& claim, Kind kind, api::Time now);

// Where machines that were to be created instead of nodes did not come, each time it takes twice as long
// until others are created.
bool may_replace(const NodeSmithPool& pool, api::Time now);
api::v1alpha1::ReplacementPause paused_again(const NodeSmithPool& pool, api::Time now);

// Condition of a pool: its pods would fit on fewer nodes, as far as sums tell.
inline constexpr std::string_view kConsolidatable = "Consolidatable";

// The node comes or is in service, and nothing was decided against it.
bool is_staying(const NodeSmithClaim& claim);
// Its leaving node is reckoned as one of the domains of hard spreads, as the kube-scheduler has it until the
// node is gone: its pods are to run elsewhere first, or a budget keeps them there for minutes.
bool is_domain_until_gone(const NodeSmithClaim& claim, api::Time now);
// Its power is being switched off and on again.
bool is_power_cycling(const NodeSmithClaim& claim);

bool has_leaving_taint(const api::Node& node);
// The node without our taint and what goes with it.
api::Node back_in_service(const api::Node& node);

}  // namespace controllers::disruption
