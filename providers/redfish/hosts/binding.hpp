// The claim that owns a host. Ownership changes only here, by compare-and-swap on the host's use.
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
    // All arguments must outlive this.
    Binding(const RedfishSettings& settings, HostInventory& inventory, base::Clock& clock)
        : settings_(settings), inventory_(inventory), clock_(clock) {}

    asio::awaitable<std::optional<Host>> read(std::string name);
    // Reads the host again directly before its power is changed. A visit to a BMC takes seconds, and another
    // process may have given the host back meanwhile.
    asio::awaitable<bool> still_has(MachineIdentity identity, std::string name);
    // Returns nullopt if somebody else changed the host meanwhile; look again.
    asio::awaitable<std::optional<Host>> take(Host host, MachineIdentity identity);
    // Records the next action on the host. Returns nullopt like take().
    asio::awaitable<std::optional<Host>> enter(Host host, HostStage stage, std::string message);
    // Does the same for a host that is on. `is_woken` is false if the claim is not known to have turned it
    // on.
    asio::awaitable<std::optional<Host>> enter_joining(Host host, bool is_woken);
    // Records why the attempt failed. It counts immediately if the host was not yet asked to turn on.
    // Otherwise it counts when the host is turned off again.
    asio::awaitable<void> note_failure(MachineIdentity identity, std::string name, std::string why);
    // Records that the claim turned the host on. May fail if others write at the same time.
    asio::awaitable<void> note_woken(MachineIdentity identity, std::string name);
    // Begins to take the host out of service. If it never became a Node, this counts as a failure with a
    // growing pause. Once the host is off, only somebody else can turn it on. So a host that is powering off
    // and not woken was off. `is_woken`: the claim turned it on, even if its use does not say so yet. Returns
    // nullopt like take().
    asio::awaitable<std::optional<Host>> retire(Host host, bool is_off, bool is_woken);
    // Records that the host's BMC is about to get our override or image. Returns nullopt like take().
    asio::awaitable<std::optional<Host>> note_prepared(Host host);
    // Records that the BMC has neither any longer. Does nothing if somebody else changed the host meanwhile.
    asio::awaitable<void> note_undone(Host host);
    // Records the number of requests to erase a drive, before another one is sent or after one succeeded.
    // Returns nullopt like take().
    asio::awaitable<std::optional<Host>> note_erasures(Host host, std::int32_t count);
    // `is_undone`: nothing of a boot's preparation is left. Returns false where take() returns nullopt.
    asio::awaitable<bool> give_back(Host host, bool is_undone);

private:
    const RedfishSettings& settings_;
    HostInventory& inventory_;
    base::Clock& clock_;
};

}  // namespace providers::redfish
