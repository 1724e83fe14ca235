// Finds nodes that could be removed because their pods fit elsewhere, or on
// cheaper machines. Pure, over a snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduling/removal.hpp"

namespace controllers::disruption {

struct Search {
    std::vector<std::size_t> candidates;  // indices into Snapshot::nodes, the cheapest to move first
    std::set<std::size_t> busy;           // subset of them whose pods must fit on existing nodes
    // Indices into Snapshot::pools. The provider of these pools may give a
    // larger host than the launched size.
    std::set<std::size_t> generous_pools;
    std::set<std::string> exhausted;  // UIDs of pods that get no new machines for a while
    std::set<std::size_t> emptied;    // nodes that go when they have been empty for long enough
    std::size_t most_nodes = 1;       // that may be removed together
    // This share of the pool's remaining nodes must be free afterwards, if nothing is launched instead.
    std::int64_t headroom_percent = 0;
};

// Limits the nodes judged one by one in a search; the next search continues with the rest.
inline constexpr std::size_t kMostTrials = 16;

struct SearchResult {
    std::vector<std::size_t> nodes;  // that can be removed; empty: none
    scheduling::Removal removal;
    std::map<std::size_t, std::string> refused;  // reasons against nodes that were judged one by one
};

// Returns as many of the first candidates as can be removed together; otherwise
// the first that can be removed alone.
SearchResult find_consolidation(scheduling::Removals& removals, const scheduling::Snapshot& snapshot,
                                const Search& search);

}  // namespace controllers::disruption
