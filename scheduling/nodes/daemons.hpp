// What DaemonSets take from nodes: on a node to come all that will run there, on a node that exists those
// whose pods are not there yet.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "scheduling/nodes/rows.hpp"
#include "scheduling/pods/pod_class.hpp"
#include "scheduling/table/bit_set.hpp"

namespace scheduling {

struct Daemon {
    std::string uid;  // of the DaemonSet
    api::Pod pod;     // as it will run, with the tolerations that its controller adds
    BitSet rows;      // where it runs
    Amounts requests;
};

class Daemons {
public:
    Daemons(const Snapshot& snapshot, Rows& rows, ResourceNames& names);

    const std::vector<Daemon>& all() const { return daemons_; }
    // Whether the DaemonSet's pod is still to come to the row's node.
    static bool is_missing(const Daemon& daemon, const Rows& rows, std::size_t row);
    // By row of a node: allocatable minus the pods on it and the DaemonSets' pods that are still to come. May
    // be negative.
    std::vector<Amounts> free_on_nodes(const Rows& rows) const;
    // By pool and place of the pool.
    std::vector<std::vector<Amounts>> overheads(const Snapshot& snapshot, const Rows& rows) const;

private:
    std::vector<Daemon> daemons_;
};

}  // namespace scheduling
