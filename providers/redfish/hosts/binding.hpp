// Which claim has a host: taken and given back by compare-and-swap on the host's status, nowhere else.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "providers/host_inventory.hpp"
#include "providers/machine.hpp"
#include "providers/redfish/hosts/settings.hpp"

namespace providers::redfish {

using api::v1alpha1::HostPhase;

bool is_bound_to(const NodeSmithHost& host, const MachineIdentity& identity);

// A status with the phase, and Ready=False with the same reason.
HostStatus in_phase(HostStatus status, HostPhase phase, const std::string& message, api::Time now);

class Binding {
public:
    // All must outlive this.
    Binding(const Settings& settings, HostInventory& inventory, base::Clock& clock)
        : settings_(settings), inventory_(inventory), clock_(clock) {}

    asio::awaitable<std::optional<NodeSmithHost>> read(std::string name);
    // Asked again right before the host's power is changed: a visit to a BMC takes seconds, and another
    // process may have given the host back meanwhile.
    asio::awaitable<bool> still_has(MachineIdentity identity, std::string name);
    // nullopt: somebody else changed the host meanwhile; look again.
    asio::awaitable<std::optional<NodeSmithHost>> take(NodeSmithHost host, MachineIdentity identity);
    // Records what is about to be asked of the host. nullopt as above.
    asio::awaitable<std::optional<NodeSmithHost>> enter(NodeSmithHost host, HostPhase phase,
                                                        std::string message);
    // Begins to take the host out of service. If it never became a Node that counts as a failure: it is tried
    // again later and later. nullopt as above.
    asio::awaitable<std::optional<NodeSmithHost>> retire(NodeSmithHost host);
    asio::awaitable<bool> give_back(NodeSmithHost host);

private:
    api::Time now() const { return api::Time(clock_.wall_now()); }

    const Settings& settings_;
    HostInventory& inventory_;
    base::Clock& clock_;
};

}  // namespace providers::redfish
