// Determines what DaemonSets take from nodes. On a future node these are the pods that will run there. On an
// existing node they are the pods that are not there yet. A pod that does not fit in addition to older
// DaemonSets' pods does not run there, so it takes nothing. Otherwise anyone who creates DaemonSets could
// keep other pods from their machines.
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
    std::string uid;                         // UID of the DaemonSet
    api::Pod pod;                            // as it will run, with the tolerations that its controller adds
    BitSet rows;                             // where it runs, or will
    Amounts requests;                        // by its template
    std::map<std::size_t, Amounts> on_pool;  // by pool: the larger requests that its pods have there
    std::vector<std::size_t> oversized_for;  // pools where it would run if a machine were large enough

    // Returns what its pod takes of a node of that pool.
    const Amounts& taken_of(std::optional<std::size_t> pool) const {
        const auto found = pool ? on_pool.find(*pool) : on_pool.end();
        return found == on_pool.end() ? requests : found->second;
    }
};

class Daemons {
public:
    Daemons(const Snapshot& snapshot, Rows& rows, ResourceNames& names);

    const std::vector<Daemon>& all() const { return daemons_; }
    // Reports whether the DaemonSet's pod is not on the row's node yet but will be.
    static bool is_missing(const Daemon& daemon, const Rows& rows, std::size_t row);
    // Returns, by row of a node, allocatable minus its pods and the future pods of DaemonSets. It is negative
    // only if its pods take more than it offers.
    std::vector<Amounts> free_on_nodes(const Rows& rows) const;
    // Returns what DaemonSets take of a pool's machine that offers this much to pods. `row`
    // is the template row of its place.
    Amounts taken_of_machine(std::size_t pool, std::size_t row, const Amounts& offered) const;

private:
    void leave_out_what_does_not_fit(const Snapshot& snapshot, const Rows& rows, ResourceNames& names);
    // Settles which DaemonSets fit at that row, which has this much free.
    void settle(std::size_t row, Amounts free, std::optional<std::size_t> pool, const Rows& rows);

    std::vector<Daemon> daemons_;  // the oldest first
};

}  // namespace scheduling
