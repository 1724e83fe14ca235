// What DaemonSets take from nodes: on a node to come those that will run there, on a node that exists those
// whose pods are not there yet. A pod that does not fit beside those of older DaemonSets does not run there,
// so it takes nothing: whoever may create DaemonSets would otherwise keep everybody's pods from their
// machines.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/nodes/rows.hpp"
#include "scheduling/pods/pod_class.hpp"
#include "scheduling/table/bit_set.hpp"

namespace scheduling {

struct Daemon {
    std::string uid;                         // of the DaemonSet
    api::Pod pod;                            // as it will run, with the tolerations that its controller adds
    BitSet rows;                             // where it runs, or will
    Amounts requests;                        // by its template
    std::map<std::size_t, Amounts> on_pool;  // by pool: at least as much, where its pods ask for more
    std::vector<std::size_t>
        oversized_for;  // pools where it would run, if a machine were large enough for it

    // What its pod takes of a node of that pool.
    const Amounts& taken_of(std::optional<std::size_t> pool) const {
        const auto found = pool ? on_pool.find(*pool) : on_pool.end();
        return found == on_pool.end() ? requests : found->second;
    }
};

class Daemons {
public:
    Daemons(const Snapshot& snapshot, Rows& rows, ResourceNames& names);

    const std::vector<Daemon>& all() const { return daemons_; }
    // Whether the DaemonSet's pod is still to come to the row's node.
    static bool is_missing(const Daemon& daemon, const Rows& rows, std::size_t row);
    // By row of a node: allocatable minus the pods on it and the DaemonSets' pods that are still to come.
    // Negative only where the pods on it are more than it offers.
    std::vector<Amounts> free_on_nodes(const Rows& rows) const;
    // What they take of a machine of the pool that offers so much to pods, in the template row of its place.
    Amounts taken_of_machine(std::size_t pool, std::size_t row, const Amounts& offered) const;

private:
    void leave_out_what_does_not_fit(const Snapshot& snapshot, const Rows& rows, ResourceNames& names);
    // At that row, which has so much for them.
    void settle(std::size_t row, Amounts free, std::optional<std::size_t> pool, const Rows& rows);

    std::vector<Daemon> daemons_;  // the oldest first
};

}  // namespace scheduling
