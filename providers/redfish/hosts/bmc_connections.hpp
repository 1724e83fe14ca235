// Connections to the BMCs of a provider's hosts. They are made on first use, and anew when address,
// certificate, quirks or credentials change.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "base/backoff.hpp"
#include "providers/environment.hpp"
#include "providers/host_inventory.hpp"
#include "providers/redfish/hosts/hardware.hpp"
#include "providers/redfish/hosts/settings.hpp"

namespace providers::redfish {

// Time until the next try, after somebody else changed a host, and for a busy BMC that states no time.
inline constexpr base::Duration kConflictRetry = std::chrono::seconds{1};
inline constexpr base::Duration kBusyRetry = std::chrono::seconds{10};
// Says why the host is looked at again after kConflictRetry.
inline std::string changed_meanwhile(const std::string& host) {
    return "host " + host + " was changed meanwhile";
}

// Pauses before a BMC that refused a tag is tried again. It may have been busy for a minute, or never take
// it.
inline constexpr base::Backoff kRefusalPauses{std::chrono::minutes{1}, std::chrono::hours{24}};

struct Station {
    Station(WireOptions options, Login login, std::shared_ptr<Account> account,
            std::shared_ptr<Access> access, const Host& host, Traffic& traffic)
        : address(host.bmc),
          quirks(host.quirks),
          bmc(std::move(options), std::move(login), std::move(account), std::move(access), traffic),
          pinned_uuid(host.pinned_uuid),
          hardware(bmc, host.bmc.system_id, host.pinned_uuid, host.system_uuid, host.quirks) {}

    BmcAddress address;
    Quirks quirks;
    Bmc bmc;
    std::string pinned_uuid;
    std::string credentials;  // version of their Secret
    std::string retry_mark;   // the mark at the last try
    Hardware hardware;
    std::optional<Details> details;
    base::TimePoint details_at{};
    int incomplete_details = 0;  // consecutive reads with unreadable parts
    std::string power_meter;     // its link; empty: none, or it reports nothing
    std::optional<std::int64_t> watts;
    base::TimePoint watts_at{};
    std::string boot_obstacle;  // why the provider cannot boot it as configured; empty: no known obstacle
    std::optional<base::TimePoint> boot_looked_at;
    int kept_boots = 0;  // consecutive attempts to undo a boot that its BMC accepted without effect
    base::TimePoint boot_kept_at{};
    std::string lock_refusal;  // why no mark could be written there
    int lock_refusals = 0;     // consecutive
    base::TimePoint lock_refused_at{};
    bool bears_no_mark = false;  // of this cluster, when it was last looked at
    std::string epoch_refusal;   // why no operator's epoch can be written there; empty: no known reason
    int epoch_refusals = 0;      // consecutive
    base::TimePoint epoch_refused_at{};
    std::optional<base::TimePoint> unread_since;  // nullopt: the last look for an epoch succeeded

    // Reports whether the BMC refused an epoch a short time ago, so that it is not asked again now.
    bool refuses_epoch(base::TimePoint now) const {
        return !epoch_refusal.empty() && now - epoch_refused_at < kRefusalPauses.after(epoch_refusals);
    }
};

class BmcConnections {
public:
    // All arguments must outlive this.
    BmcConnections(const RedfishSettings& settings, HostInventory& inventory,
                   ProviderEnvironment& environment);

    // Returns the host's connection; keep the shared_ptr while using it. If the Secret of a host in use was
    // removed, its old login is kept. Throws CredentialsError, std::invalid_argument.
    asio::awaitable<std::shared_ptr<Station>> station(Host host);
    // Ends the sessions of hosts that no longer exist, and forgets the hosts.
    asio::awaitable<void> forget_missing();
    // Ends all sessions, with as many concurrent calls as allowed.
    asio::awaitable<void> end_sessions();
    HostInventory& inventory() { return inventory_; }
    // Returns why no host may be turned off or erased now. Without locks no other operator can be noticed, so
    // nothing waits for a sign of one.
    RemovalHold why_not_destroy() const;

private:
    struct Credentials {
        Login login;
        std::string version;  // of their Secret
    };
    asio::awaitable<Credentials> credentials_for(Host host);
    std::shared_ptr<Station> station_in_use(const Host& host) const;
    std::shared_ptr<Account> account_of(const Credentials& credentials,
                                        const std::optional<SecretName>& reference);
    // Follows a new version of the Secret.
    void rename_account(const std::string& from, const std::string& to);
    std::shared_ptr<Access> access_of(const Host& host, const Login& login);
    void remember(Station& station, const Host& host);
    bool wants_retry(const Host& host);
    base::Duration rest_of_suspension(const Host& host);
    asio::awaitable<void> end(std::shared_ptr<Station> station);
    asio::awaitable<void> log_out(std::shared_ptr<Station> station);

    const RedfishSettings& settings_;
    HostInventory& inventory_;
    Traffic traffic_;
    std::map<std::string, std::shared_ptr<Station>> stations_;
    std::map<std::string, std::shared_ptr<Account>> accounts_;  // by version of the Secret
    // Key: the BMC's URL, user and password.
    std::map<std::tuple<std::string, std::string, std::string>, std::shared_ptr<Access>> accesses_;
};

}  // namespace providers::redfish
