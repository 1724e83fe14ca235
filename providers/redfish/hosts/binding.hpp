// Which claim has a host: taken and given back by compare-and-swap on the host's use, nowhere else.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "providers/host_inventory.hpp"
#include "providers/machine.hpp"
#include "providers/redfish/hosts/settings.hpp"

namespace providers::redfish {

bool is_bound_to(const Host& host, const MachineIdentity& identity);

class Binding {
public:
    // All must outlive this.
    Binding(const Settings& settings, HostInventory& inventory, base::Clock& clock)
        : settings_(settings), inventory_(inventory), clock_(clock) {}

    asio::awaitable<std::optional<Host>> read(std::string name);
    // Asked again right before the host's power is changed: a visit to a BMC takes seconds, and another
    // process may have given the host back meanwhile.
    asio::awaitable<bool> still_has(MachineIdentity identity, std::string name);
    // nullopt: somebody else changed the host meanwhile; look again.
    asio::awaitable<std::optional<Host>> take(Host host, MachineIdentity identity);
    // Records what is about to be asked of the host. nullopt as above.
    asio::awaitable<std::optional<Host>> enter(Host host, HostStage stage, std::string message);
    // The same of a host that is on, for the claim as is known by now, or `is_woken` is false.
    asio::awaitable<std::optional<Host>> enter_joining(Host host, bool is_woken);
    // Records that the claim turned it on. May fail where others write at the same time.
    // Why the attempt failed. One that failed before the host was asked to turn on counts for it at once, any
    // other when it is turned off again.
    asio::awaitable<void> note_failure(MachineIdentity identity, std::string name, std::string why);
    asio::awaitable<void> note_woken(MachineIdentity identity, std::string name);
    // Begins to take the host out of service. If it never became a Node that counts as a failure: it is tried
    // again later and later. Once it is off, whoever turns it on is somebody else: a host that is powering
    // off and not woken was off. `is_woken`: the claim turned it on, which its use may not say yet. nullopt
    // as above.
    asio::awaitable<std::optional<Host>> retire(Host host, bool is_off, bool is_woken);
    asio::awaitable<bool> give_back(Host host);

private:
    const Settings& settings_;
    HostInventory& inventory_;
    base::Clock& clock_;
};

}  // namespace providers::redfish
