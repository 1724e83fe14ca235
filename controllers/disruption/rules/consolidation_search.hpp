// Which nodes could go because their pods fit elsewhere, or on cheaper machines. Pure, over a snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduling/solver.hpp"

namespace controllers::disruption {

struct Search {
    std::vector<std::size_t> candidates;  // indices into Snapshot::nodes, the cheapest to move first
    std::set<std::size_t> busy;           // of these: only if their pods fit on nodes that are there
    // Indices into Snapshot::pools: whose provider may give a larger host than the one that is launched.
    std::set<std::size_t> generous_pools;
    std::set<std::string> exhausted;  // UIDs of pods for which nothing is launched for a while
    std::size_t most_nodes = 1;       // that may go together
    // Of what remains of the pool, if nothing is launched instead, this must be free afterwards.
    std::int64_t headroom_percent = 0;
};

// Nodes judged one by one in one search; the rest has its turn in the next.
inline constexpr std::size_t kMostTrials = 16;

struct SearchResult {
    std::vector<std::size_t> nodes;  // that go; empty: none can
    scheduling::Removal removal;
    std::map<std::size_t, std::string> refused;  // of the nodes judged one by one, why not
};

// As many of the first candidates as can go together; else the first that can go alone.
SearchResult find_consolidation(scheduling::Removals& removals, const scheduling::Snapshot& snapshot,
                                const Search& search);

}  // namespace controllers::disruption
