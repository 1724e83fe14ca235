// For what a node may be disrupted, in the order of urgency. Pure; what stands against it is in blocks.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/node.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "base/clock.hpp"
#include "controllers/state/blocker.hpp"

namespace controllers::disruption {

struct NodeFacts {
    const api::v1alpha1::NodeSmithPool& pool;
    const api::v1alpha1::NodeSmithClaim& claim;
    const api::Node& node;
    std::int64_t evictable_pods = 0;  // on it, ending ones included
    double utilization_percent = 0;
    std::optional<api::Time> empty_since;
    std::optional<api::Time> unneeded_since;  // since when hardly anything runs on it
    std::optional<api::Time> spare_since;     // since when the pool's pods need fewer nodes
    std::string evacuated;                    // why its host is being evacuated; empty: it is not
    std::string drift;             // how it differs from what would be made now; empty: it does not
    bool machine_stopped = false;  // by its provider
};

struct Candidacy {
    Kind kind = Kind::Empty;
    std::string why;  // "the node is empty"
};
struct Candidacies {
    std::vector<Candidacy> list;          // the most urgent first
    std::optional<api::Time> look_again;  // when time alone would make another one
};
// Only of nodes that were in service.
Candidacies candidacies(const NodeFacts& facts, api::Time now);
// Whether it still is one for that.
bool is_candidate(const NodeFacts& facts, Kind kind, api::Time now);

// Whether it was hardly used for long enough: then a smaller machine may be bought instead.
bool is_hardly_used(const NodeFacts& facts, api::Time now);

// Rank of the queue: what is most urgent first.
int rank(Kind kind);

// How the Node or its machine differs from what the pool would make now; empty: not. `template_hash` is the
// pool's present one, empty while its provider is not there.
std::string drift_of(const api::v1alpha1::NodeSmithPool& pool, const std::string& template_hash,
                     const api::v1alpha1::NodeSmithClaim& claim, const api::Node& node);

// Whether the template that the machine was made from is another one now, in words; empty: not, or nobody
// knows. While a template cannot be seen, what it was is still on record.
std::string template_drift(const api::v1alpha1::NodeSmithProvider& provider,
                           const api::v1alpha1::NodeSmithClaim& claim);

// A node is bought for pods that are bound within moments of its readiness: how long its emptiness is not yet
// worth a note; nullopt: it is.
std::optional<base::Duration> settles_in(const NodeFacts& facts, api::Time now);

// What the facts say of it, brought up to date.
std::optional<api::Time> empty_since(const NodeFacts& facts, api::Time now);
std::optional<api::Time> unneeded_since(const NodeFacts& facts, api::Time now);

// Since when the Node has not been Ready; nullopt: it is.
std::optional<api::Time> not_ready_since(const api::Node& node);

}  // namespace controllers::disruption
