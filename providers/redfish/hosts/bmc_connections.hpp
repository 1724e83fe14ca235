// The BMCs of a provider's hosts: made on first use, made anew when address, certificate, quirks or
// credentials change.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>

#include "providers/environment.hpp"
#include "providers/host_inventory.hpp"
#include "providers/redfish/hosts/hardware.hpp"
#include "providers/redfish/hosts/settings.hpp"

namespace providers::redfish {

// When to come again to a host that somebody else just changed, and to a BMC that is busy and names no time.
inline constexpr base::Duration kConflictRetry = std::chrono::seconds{1};
inline constexpr base::Duration kBusyRetry = std::chrono::seconds{10};

struct Station {
    Station(WireOptions options, Login login, const Host& host, Traffic& traffic)
        : address(host.bmc),
          quirks(host.quirks),
          bmc(std::move(options), std::move(login), traffic),
          hardware(bmc, host.bmc.system_id, host.quirks) {}

    BmcAddress address;
    Quirks quirks;
    Bmc bmc;
    Hardware hardware;
    std::optional<Details> details;
    base::TimePoint details_at{};
    std::optional<std::string> power_meter;  // its link; empty: there is none
    std::optional<std::int64_t> watts;
    base::TimePoint watts_at{};
};

class BmcConnections {
public:
    // All must outlive this.
    BmcConnections(const Settings& settings, HostInventory& inventory, ProviderEnvironment& environment);

    // A caller keeps the shared_ptr while it works. Throws CredentialsError, std::invalid_argument.
    asio::awaitable<std::shared_ptr<Station>> station(Host host);
    // Ends the sessions of hosts that are no longer there, and forgets them.
    asio::awaitable<void> forget_missing();
    // Ends all sessions, as many at a time as calls are allowed.
    asio::awaitable<void> end_sessions();
    HostInventory& inventory() { return inventory_; }

private:
    asio::awaitable<Login> login_for(Host host);
    asio::awaitable<void> end(std::shared_ptr<Station> station);

    const Settings& settings_;
    HostInventory& inventory_;
    Traffic traffic_;
    std::map<std::string, std::shared_ptr<Station>> stations_;
};

}  // namespace providers::redfish
