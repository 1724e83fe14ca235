// What a pod demands of the pods around it, in terms of counters.
#pragma once
#include <cstdint>
#include <vector>

#include "api/pod.hpp"

namespace scheduling {

using CounterId = std::uint32_t;

// Topology spread: the domain may hold at most `max_skew` pods more than the emptiest one.
struct SpreadRule {
    CounterId counter = 0;
    std::int32_t max_skew = 1;
    std::int32_t min_domains = 0;
    bool counts_itself = false;
    bool has_vacated_domain = false;  // the emptiest has no pods, and is no row
};

// Pod affinity: there is a matching pod in the domain of each counter; or nowhere yet, and the pod is one.
struct AffinityRule {
    std::vector<CounterId> counters;
    bool matches_itself = false;
};

struct Rules {
    std::vector<SpreadRule> spreads;
    std::vector<AffinityRule> affinities;
    std::vector<CounterId>
        empty;  // no pod of these is in the domain: anti-affinity, the pod's own and others'

    bool none() const { return spreads.empty() && affinities.empty() && empty.empty(); }
    // Whether a rule that does not hold now may hold later, when more pods are placed.
    bool may_change() const { return !spreads.empty() || !affinities.empty(); }
};

// One preference: rules, or a demand on nodes.
struct Preference {
    Rules rules;
    const api::NodeSelectorTerm* term = nullptr;
    bool avoids_soft_taints = false;
};

// The preferences of a pod that are kept, as bits by their index; the first is given up last.
using Kept = std::uint64_t;
inline constexpr std::size_t kMostPreferences = 64;  // the weakest beyond are not respected

}  // namespace scheduling
