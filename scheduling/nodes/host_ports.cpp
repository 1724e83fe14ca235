#include "scheduling/nodes/host_ports.hpp"

#include <algorithm>

#include "scheduling/nodes/node_digest.hpp"

namespace scheduling {

namespace {

void append(std::vector<HostPort>& ports, const std::vector<HostPort>& more) {
    ports.insert(ports.end(), more.begin(), more.end());
}

bool conflict(const std::vector<HostPort>& taken, const std::vector<HostPort>& wanted) {
    return std::ranges::any_of(wanted, [&](const HostPort& port) {
        return std::ranges::any_of(taken, [&](const HostPort& other) { return conflicts(port, other); });
    });
}

}  // namespace

// Returns the ports of DaemonSets whose pods will still run on the row's node.
std::vector<HostPort> UsedHostPorts::of_daemons(std::size_t row) const {
    std::vector<HostPort> ports;
    for (const auto& daemon : daemons_.all()) {
        const bool is_to_come =
            row < rows_.nodes() ? Daemons::is_missing(daemon, rows_, row) : daemon.rows.contains(row);
        if (is_to_come) append(ports, host_ports_of(daemon.pod.spec));
    }
    return ports;
}

std::vector<HostPort>& UsedHostPorts::taken(std::size_t slot, std::size_t row) {
    const auto [entry, added] = taken_.try_emplace(slot);
    if (!added) return entry->second;
    entry->second = of_daemons(row);
    if (row < rows_.nodes())
        for (const auto& pod : rows_.node(row).pods)
            if (!is_finished(*pod)) append(entry->second, host_ports_of(pod->spec));
    return entry->second;
}

bool UsedHostPorts::are_free(std::size_t slot, std::size_t row, const std::vector<HostPort>& wanted) {
    return wanted.empty() || !conflict(taken(slot, row), wanted);
}

bool UsedHostPorts::are_free_on_new(std::size_t row, const std::vector<HostPort>& wanted) const {
    return wanted.empty() || !conflict(of_daemons(row), wanted);
}

std::string UsedHostPorts::obstacle_on_new(std::size_t row, const std::vector<HostPort>& wanted) const {
    for (const auto& daemon : daemons_.all()) {
        if (!daemon.rows.contains(row)) continue;
        const auto ports = host_ports_of(daemon.pod.spec);
        for (const auto& port : wanted)
            if (conflict(ports, {port}))
                return "its DaemonSet " + api::key_of(daemon.pod).str() + " uses host port " +
                       std::to_string(port.port) + ", which the pod needs";
    }
    return {};
}

void UsedHostPorts::take(std::size_t slot, std::size_t row, const std::vector<HostPort>& ports) {
    if (!ports.empty()) append(taken(slot, row), ports);
}

}  // namespace scheduling
