// Expresses a pod's demands on the pods around it in terms of counters.
#pragma once
#include <cstdint>
#include <vector>

#include "api/pod.hpp"

namespace scheduling {

using CounterId = std::uint32_t;

// SpreadRule is a topology spread: the domain may hold at most `max_skew` pods more than the emptiest one.
struct SpreadRule {
    CounterId counter = 0;
    std::int32_t max_skew = 1;
    std::int32_t min_domains = 0;
    bool counts_itself = false;
    bool has_vacated_domain = false;  // the emptiest domain has no pods and is no row
};

// AffinityRule is a pod affinity. The domain of each counter has a matching pod, or none exists
// anywhere yet and the pod matches itself.
struct AffinityRule {
    std::vector<CounterId> counters;
    bool matches_itself = false;
};

struct Rules {
    std::vector<SpreadRule> spreads;
    std::vector<AffinityRule> affinities;
    std::vector<CounterId> empty;  // the domain has no pod of these: anti-affinity of the pod and of others

    bool none() const { return spreads.empty() && affinities.empty() && empty.empty(); }
    // Reports whether a rule that does not hold now may hold when more pods are placed.
    bool may_change() const { return !spreads.empty() || !affinities.empty(); }
};

// Preference consists of rules, or of a demand on nodes.
struct Preference {
    Rules rules;
    const api::NodeSelectorTerm* term = nullptr;
    bool avoids_soft_taints = false;
};

// Holds the preferences of a pod that are kept, as bits by their index. The first one is given up last.
using Kept = std::uint64_t;
inline constexpr std::size_t kMostPreferences = 64;  // weaker ones beyond are ignored

}  // namespace scheduling
