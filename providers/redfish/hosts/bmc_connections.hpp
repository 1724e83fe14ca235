// The BMCs of a provider's hosts: made on first use, made anew when address, certificate, quirks or
// credentials change.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "providers/environment.hpp"
#include "providers/host_inventory.hpp"
#include "providers/redfish/hosts/hardware.hpp"
#include "providers/redfish/hosts/settings.hpp"

namespace providers::redfish {

// When to come again to a host that somebody else just changed, and to a BMC that is busy and names no time.
inline constexpr base::Duration kConflictRetry = std::chrono::seconds{1};
inline constexpr base::Duration kBusyRetry = std::chrono::seconds{10};

struct Station {
    Station(WireOptions options, Login login, std::shared_ptr<Account> account,
            std::shared_ptr<Access> access, const Host& host, Traffic& traffic)
        : address(host.bmc),
          quirks(host.quirks),
          bmc(std::move(options), std::move(login), std::move(account), std::move(access), traffic),
          pinned_uuid(host.pinned_uuid),
          hardware(bmc, host.bmc.system_id, host.pinned_uuid, host.quirks) {}

    BmcAddress address;
    Quirks quirks;
    Bmc bmc;
    std::string pinned_uuid;
    std::string credentials;  // version of their Secret
    std::string retry_mark;   // with which they were tried last
    Hardware hardware;
    std::optional<Details> details;
    base::TimePoint details_at{};
    int incomplete_details = 0;  // read in a row with parts that could not be
    std::string power_meter;     // its link; empty: there is none, or it tells nothing
    std::optional<std::int64_t> watts;
    base::TimePoint watts_at{};
    std::string boot_obstacle;  // why it cannot be booted as its provider wants; empty: nothing is known
    std::optional<base::TimePoint> boot_looked_at;
    bool is_undo_due = false;  // what was prepared for a boot may still be there
    std::string lock_refusal;  // why no mark can be written there; empty: that is not known
    base::TimePoint lock_refused_at{};
};

class BmcConnections {
public:
    // All must outlive this.
    BmcConnections(const Settings& settings, HostInventory& inventory, ProviderEnvironment& environment);

    // A caller keeps the shared_ptr while it works. A host in use keeps the login that it had when its Secret
    // is gone. Throws CredentialsError, std::invalid_argument.
    asio::awaitable<std::shared_ptr<Station>> station(Host host);
    // Ends the sessions of hosts that are no longer there, and forgets them.
    asio::awaitable<void> forget_missing();
    // Ends all sessions, as many at a time as calls are allowed.
    asio::awaitable<void> end_sessions();
    HostInventory& inventory() { return inventory_; }

private:
    struct Credentials {
        Login login;
        std::string version;  // of their Secret
    };
    asio::awaitable<Credentials> credentials_for(Host host);
    std::shared_ptr<Station> station_in_use(const Host& host) const;
    std::shared_ptr<Account> account_of(const Credentials& credentials,
                                        const std::optional<SecretName>& reference);
    // Its Secret got another version.
    void rename_account(const std::string& from, const std::string& to);
    std::shared_ptr<Access> access_of(const Host& host, const Login& login);
    void remember(Station& station, const Host& host);
    bool wants_retry(const Host& host);
    base::Duration rest_of_suspension(const Host& host);
    asio::awaitable<void> end(std::shared_ptr<Station> station);
    asio::awaitable<void> log_out(std::shared_ptr<Station> station);

    const Settings& settings_;
    HostInventory& inventory_;
    Traffic traffic_;
    std::map<std::string, std::shared_ptr<Station>> stations_;
    std::map<std::string, std::shared_ptr<Account>> accounts_;  // by version of their Secret
    // By URL, user and password of the BMC.
    std::map<std::tuple<std::string, std::string, std::string>, std::shared_ptr<Access>> accesses_;
};

}  // namespace providers::redfish
