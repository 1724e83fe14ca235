#include "providers/redfish/hosts/bmc_connections.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.hpp"
#include "base/task_group.hpp"
#include "base/text.hpp"

namespace providers::redfish {

namespace {

// No resource or collection that we read is longer; we read no logs.
constexpr std::uint64_t kLargestAnswer = 2 * 1024 * 1024;

WireOptions wire_options(const Host& host, const RedfishSettings& settings) {
    const auto& bmc = host.bmc;
    WireOptions options;
    options.host = host.name;
    options.http.url = bmc.url;
    options.http.tls.ca_bundle_pem = bmc.ca_bundle_pem;
    if (!bmc.fingerprint_sha256.empty()) options.http.tls.fingerprint_sha256 = bmc.fingerprint_sha256;
    options.http.tls.insecure_skip_verify = bmc.insecure_skip_verify;
    options.http.max_connections = static_cast<std::size_t>(settings.spec.concurrency.perBMC);
    options.http.max_response_bytes = kLargestAnswer;
    options.http.connect_timeout =
        std::chrono::duration_cast<base::Duration>(settings.spec.timeouts.connect.value);
    options.request_timeout =
        std::chrono::duration_cast<base::Duration>(settings.spec.timeouts.request.value);
    options.parallel = options.http.max_connections;
    return options;
}

void check_quirks(const Host& host) {
    for (const auto& quirk : host.quirks) {
        if (has_quirk(known_quirks(), quirk)) continue;
        throw std::invalid_argument("spec.quirks: " + quirk + " is not known; known are " +
                                    base::joined(known_quirks()));
    }
}

}  // namespace

BmcConnections::BmcConnections(const RedfishSettings& settings, HostInventory& inventory,
                               ProviderEnvironment& environment)
    : settings_(settings),
      inventory_(inventory),
      traffic_({settings.namespace_, settings.name},
               static_cast<std::size_t>(settings.spec.concurrency.global), environment) {}

asio::awaitable<BmcConnections::Credentials> BmcConnections::credentials_for(Host host) {
    Credentials result;
    auto& login = result.login;
    login.context = "kubenodesmith/" + settings_.uid;
    const auto& reference = host.bmc.credentials;
    if (!reference) {
        if (settings_.username.empty())
            throw CredentialsError(
                "neither spec.bmc.credentialsSecretRef nor the provider's spec.credentialsSecretRef names a "
                "Secret with username and password");
        login.username = settings_.username;
        login.password = settings_.password;
        result.version = settings_.credentials_version;
        co_return result;
    }
    if (!reference->namespace_.empty() && reference->namespace_ != settings_.namespace_)
        throw CredentialsError("spec.bmc.credentialsSecretRef.namespace: only the host's own namespace " +
                               settings_.namespace_ + " is accepted");
    const auto secret = co_await inventory_.secret(settings_.namespace_, reference->name);
    std::tie(login.username, login.password) =
        credentials_of(secret.data, "Secret " + reference->name + " (spec.bmc.credentialsSecretRef)");
    result.version = secret.version;
    co_return result;
}

// Returns the connection to a claimed host. The host must be turned off even if its Secret was removed.
std::shared_ptr<Station> BmcConnections::station_in_use(const Host& host) const {
    const auto known = stations_.find(host.name);
    const bool is_same =
        known != stations_.end() && known->second && known->second->address == host.bmc && host.use.owner;
    return is_same ? known->second : nullptr;
}

asio::awaitable<std::shared_ptr<Station>> BmcConnections::station(Host host) {
    check_quirks(host);
    Credentials credentials;
    std::shared_ptr<Station> in_use;
    try {
        credentials = co_await credentials_for(host);
    } catch (const CredentialsError&) {
        in_use = station_in_use(host);
        if (!in_use) throw;
    }
    if (in_use) co_return in_use;
    auto& known = stations_[host.name];
    const bool same = known && known->address == host.bmc && known->quirks == host.quirks &&
                      known->pinned_uuid == host.pinned_uuid &&
                      known->bmc.access().login() == credentials.login;
    if (same) {
        if (known->retry_mark != host.retry_mark) known->bmc.access().try_again();
        known->retry_mark = host.retry_mark;
        // A change of only the Secret's metadata, e.g. our finalizer, gives another version with the same
        // login.
        rename_account(known->credentials, credentials.version);
        known->credentials = credentials.version;
        known->hardware.know(host.system_uuid);
        co_return known;
    }
    auto account = account_of(credentials, host.bmc.credentials);
    auto access = access_of(host, credentials.login);
    // Throws if the address is invalid. Then the old connection is kept with its session.
    const auto made = std::make_shared<Station>(wire_options(host, settings_), std::move(credentials.login),
                                                std::move(account), std::move(access), host, traffic_);
    made->credentials = credentials.version;
    remember(*made, host);
    if (has_quirk(host.quirks, kQuirkBasicAuth)) made->bmc.access().forgo_sessions();
    const auto before = std::exchange(known, made);
    if (before) co_await end(before);
    co_return made;
}

// Returns the account of a Secret. The same user in two Secrets counts as two accounts, for all we know.
// Refusals in the status of all hosts count, as a directory remembers more than this process.
std::shared_ptr<Account> BmcConnections::account_of(const Credentials& credentials,
                                                    const std::optional<SecretName>& reference) {
    auto& account = accounts_[credentials.version];
    if (account) return account;
    account = std::make_shared<Account>(traffic_.environment.executor);
    if (credentials.version.empty()) return account;
    std::set<std::string> urls;
    for (const auto& host : inventory_.hosts(settings_.namespace_, settings_.name)) {
        if (host->bmc.credentials == reference) urls.insert(host->bmc.url);
        if (host->refused_credentials == credentials.version && !wants_retry(*host)) {
            ++account->refusals;
            const auto until = traffic_.environment.clock.now() + rest_of_suspension(*host);
            account->refused_until = std::max(account->refused_until.value_or(until), until);
        }
        if (host->accepted_credentials == credentials.version) account->is_proven = true;
    }
    account->bmcs = urls.size();
    return account;
}

void BmcConnections::rename_account(const std::string& from, const std::string& to) {
    if (from == to || accounts_.contains(to)) return;
    auto account = accounts_.extract(from);
    if (account.empty()) return;
    account.key() = to;
    accounts_.insert(std::move(account));
}

std::shared_ptr<Access> BmcConnections::access_of(const Host& host, const Login& login) {
    // Without sessions there is nothing to share.
    const std::string way = has_quirk(host.quirks, kQuirkBasicAuth) ? "basic " : "";
    auto& access = accesses_[{way + host.bmc.url, login.username, login.password}];
    if (!access) access = std::make_shared<Access>(traffic_.environment.executor);
    return access;
}

// Restores what an earlier process learned.
void BmcConnections::remember(Station& station, const Host& host) {
    station.retry_mark = host.retry_mark;
    if (station.credentials.empty()) return;
    LoginHistory history;
    history.is_proven = host.accepted_credentials == station.credentials;
    // Somebody may have switched sessions on since Basic was refused.
    history.are_sessions_off = host.are_sessions_off && host.refused_credentials.empty();
    const bool is_refused = host.refused_credentials == station.credentials && !wants_retry(host);
    if (is_refused) {
        history.refusals = std::max(1, host.refusals);
        if (!history.is_proven || host.refusals >= kMostDoubts)
            history.suspended_for = rest_of_suspension(host);
    }
    station.bmc.access().remember(history);
}

bool BmcConnections::wants_retry(const Host& host) {
    const bool is_asked_for = host.retry_mark != host.refused_mark;
    return is_asked_for || rest_of_suspension(host) <= base::Duration::zero();
}

base::Duration BmcConnections::rest_of_suspension(const Host& host) {
    if (!host.refused_at) return kSuspension;
    const auto passed = traffic_.environment.clock.wall_now() - *host.refused_at;
    // A wrong clock wrote a time in the future.
    return std::min(kSuspension - passed, kSuspension);
}

// Ends the session unless another host of the same BMC uses it.
asio::awaitable<void> BmcConnections::end(std::shared_ptr<Station> station) {
    if (!station->bmc.access().shares_session()) co_await log_out(std::move(station));
}

asio::awaitable<void> BmcConnections::log_out(std::shared_ptr<Station> station) {
    try {
        const auto visit = co_await station->bmc.visit();
        co_await station->bmc.access().log_out();
    } catch (const ProviderError& error) {
        // This session expires by itself. The others are ended now.
        base::log::debug("Could not end a session", {{"error", error.what()}});
    }
}

RemovalHold BmcConnections::why_not_destroy() const {
    const auto& why = traffic_.environment.why_not_destroy;
    return why && locks_hosts(settings_) ? why(settings_.uid) : RemovalHold();
}

asio::awaitable<void> BmcConnections::end_sessions() {
    base::TaskGroup endings(traffic_.environment.executor);
    for (const auto& [name, station] : stations_) {
        if (station && station->bmc.access().has_session()) endings.spawn(log_out(station));
    }
    co_await endings.join();
}

asio::awaitable<void> BmcConnections::forget_missing() {
    std::set<std::string> present;
    for (const auto& host : inventory_.hosts(settings_.namespace_, settings_.name))
        present.insert(host->name);
    std::vector<std::shared_ptr<Station>> gone;
    std::erase_if(accounts_, [](const auto& entry) { return entry.second.use_count() == 1; });
    std::erase_if(accesses_, [](const auto& entry) { return entry.second.use_count() == 1; });
    std::erase_if(stations_, [&](const auto& entry) {
        const bool missing = !present.contains(entry.first);
        if (missing && entry.second) gone.push_back(entry.second);
        return missing;
    });
    // They run concurrently, as each silent BMC takes a whole timeout.
    base::TaskGroup endings(traffic_.environment.executor);
    for (const auto& station : gone) endings.spawn(end(station));
    co_await endings.join();
}

}  // namespace providers::redfish
