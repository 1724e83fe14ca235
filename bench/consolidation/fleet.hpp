// A cluster in memory whose nodes are removed by the operator's own rules to save cost. It has no API and no
// time, only decisions and the later places of pods.
#pragma once

#include <set>
#include <string>

#include "bench/packing/mixes.hpp"
#include "controllers/disruption/rules/consolidation_search.hpp"

namespace bench {

struct Rules {
    std::size_t nodes = 300;
    double threshold_percent = 50;
    double price_threshold_percent = 0;
    std::int64_t headroom_percent = 0;
    std::size_t together = 1;
};

struct Moves {
    std::size_t removed = 0;   // nodes
    std::size_t created = 0;   // nodes
    std::size_t stranded = 0;  // evicted pods without a place, for which another node was created
};

class Fleet {
public:
    Fleet(Shape shape, std::uint64_t seed, const Rules& rules);

    double price() const;
    double bound() const;  // lowest possible cost of machines for its pods
    const Moves& moves() const { return moves_; }

    // Tries to remove each node, repeatedly, until no node can be removed.
    void come_to_rest();

private:
    using Pods = std::vector<std::shared_ptr<const api::Pod>>;

    void fill(Shape shape);
    std::size_t add_node(std::int64_t cpu_cores, std::int64_t memory_mib);
    controllers::disruption::Search search() const;
    bool save_one();
    void apply(const controllers::disruption::SearchResult& found);
    void schedule(const std::shared_ptr<const api::Pod>& pod);

    Rules rules_;
    Draw draw_;
    scheduling::Snapshot snapshot_;
    scheduling::Solver solver_;
    std::set<std::string> refused_;  // names of nodes, in this round
    std::size_t names_ = 0;
    Moves moves_;
};

}  // namespace bench
