// Converts pods' topology settings into rules.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "scheduling/nodes/rows.hpp"
#include "scheduling/topology/counter_set.hpp"
#include "scheduling/topology/pod_matcher.hpp"
#include "scheduling/topology/rules.hpp"

namespace scheduling {

class RuleReader {
public:
    RuleReader(const Snapshot& snapshot, Rows& rows, CounterSet& counters)
        : rows_(rows), counters_(counters), selections_(snapshot.namespaces) {
        for (const auto& node : snapshot.nodes)
            if (node.is_vacated_domain) vacated_.push_back(node.node.get());
    }

    Rules required(const api::Pod& pod);
    // Returns the preferences, the strongest first. Soft taints count if there are any.
    std::vector<Preference> preferences(const api::Pod& pod);
    // Returns counters of owners, one for each term of required anti-affinity.
    std::vector<CounterId> owned(const api::Pod& pod);

private:
    SpreadRule spread(const api::Pod& pod, const api::TopologySpreadConstraint& constraint);
    const BitSet& spread_rows(const api::Pod& pod, const api::TopologySpreadConstraint& constraint);
    bool has_vacated_domain(const api::Pod& pod, const api::TopologySpreadConstraint& constraint);
    AffinityRule affinity(const api::Pod& pod, const std::vector<const api::PodAffinityTerm*>& terms);
    CounterId apart(const api::Pod& pod, const api::PodAffinityTerm& term, Counts counts);
    const BitSet& rows_with(KeyId key);

    Rows& rows_;
    CounterSet& counters_;
    SelectionReader selections_;
    std::vector<const api::Node*> vacated_;
    std::map<std::string, BitSet> spread_rows_;
    std::map<KeyId, BitSet> rows_with_;
};

// Reports whether each node has a different value for this label.
bool differs_by_node(std::string_view key);

}  // namespace scheduling
