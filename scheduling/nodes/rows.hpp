// Lists the places where pods can be, as rows of one table. First are the ready nodes, then the coming
// ones. Then follows one template for each place of each pool, which represents all machines launched
// there. Leaving nodes have no row.
#pragma once
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "scheduling/input/snapshot.hpp"
#include "scheduling/nodes/node_digest.hpp"
#include "scheduling/pods/node_filter.hpp"
#include "scheduling/table/label_table.hpp"

namespace scheduling {

class Rows {
public:
    Rows(const Snapshot& snapshot, NodeDigests& digests);

    std::size_t ready() const { return ready_; }
    // Returns the number of ready and coming nodes: their rows are 0 to nodes() - 1.
    std::size_t nodes() const { return nodes_.size(); }
    // Returns an index into Snapshot::nodes.
    std::size_t node_at(std::size_t row) const { return nodes_[row]; }
    const NodeInfo& node(std::size_t row) const { return snapshot_.nodes[nodes_[row]]; }
    const NodeDigest& digest(std::size_t row) const { return *digest_of_[row]; }
    // Accepts leaving nodes too, which have no row.
    const NodeDigest& digest(const NodeInfo& node) { return digests_.of(node); }
    // Returns the pool of the row's node, or of the machines that the row represents.
    std::optional<std::size_t> pool_of(std::size_t row) const;
    const std::vector<CountedPods>& counted_pods(std::size_t row) { return digests_.counted(node(row)); }
    std::size_t kinds_of_keep_apart() const { return digests_.kinds_of_keep_apart(); }
    const Amounts& allocatable(std::size_t row) const { return *allocatable_[row]; }
    std::size_t all() const { return taints_.size(); }
    // Returns the row of a pool's first place; the others follow.
    std::size_t templates_of(std::size_t pool) const { return first_template_[pool]; }

    // Reports whether any taint only asks pods to stay away.
    bool has_soft_taints() const;

    LabelTable& labels() { return labels_; }
    const LabelTable& labels() const { return labels_; }
    FilterEvaluator& evaluator() { return evaluator_; }

private:
    std::vector<std::size_t> in_order() const;
    std::vector<LabelRow> label_rows();
    std::vector<RowTraits> traits(ResourceNames& names);

    const Snapshot& snapshot_;
    NodeDigests& digests_;
    std::size_t ready_ = 0;
    std::vector<std::size_t> nodes_;
    std::vector<const NodeDigest*> digest_of_;  // by row
    std::vector<std::size_t> first_template_;
    std::vector<const Amounts*> allocatable_;
    std::deque<Amounts> offered_;  // extended resources of the pools' machines
    std::deque<std::vector<api::Taint>> own_taints_;
    std::vector<const std::vector<api::Taint>*> taints_;
    LabelTable labels_;
    FilterEvaluator evaluator_;
};

}  // namespace scheduling
