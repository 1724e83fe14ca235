// Tracks the taken ports of nodes. It is used only for pods that want some.
#pragma once
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduling/nodes/daemons.hpp"
#include "scheduling/nodes/rows.hpp"
#include "scheduling/pods/pod_class.hpp"

namespace scheduling {

class UsedHostPorts {
public:
    UsedHostPorts(const Rows& rows, const Daemons& daemons) : rows_(rows), daemons_(daemons) {}

    // Reports whether the ports are free. `row` is the node's own, or the
    // present place of a launched machine.
    bool are_free(std::size_t slot, std::size_t row, const std::vector<HostPort>& wanted);
    // Does the same on a machine that would be launched at the row.
    bool are_free_on_new(std::size_t row, const std::vector<HostPort>& wanted) const;
    // Returns which DaemonSet takes which of the ports there; empty: they are free.
    std::string obstacle_on_new(std::size_t row, const std::vector<HostPort>& wanted) const;
    void take(std::size_t slot, std::size_t row, const std::vector<HostPort>& ports);

private:
    std::vector<HostPort>& taken(std::size_t slot, std::size_t row);
    std::vector<HostPort> of_daemons(std::size_t row) const;

    const Rows& rows_;
    const Daemons& daemons_;
    std::unordered_map<std::size_t, std::vector<HostPort>> taken_;
};

}  // namespace scheduling
