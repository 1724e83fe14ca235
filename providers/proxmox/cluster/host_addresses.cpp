#include "providers/proxmox/cluster/host_addresses.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "base/text.hpp"
#include "base/url.hpp"
#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/grammar.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kAge = std::chrono::minutes{10};
constexpr base::Duration kAvoided = std::chrono::minutes{10};
constexpr const char* kPort = ":8006";  // port of every host's API

// Reports whether another host can have this address. It excludes our own machine and the clouds' metadata
// service.
bool is_of_a_host(const asio::ip::address& address) {
    const bool is_special = address.is_loopback() || address.is_multicast() || address.is_unspecified();
    const bool is_local = address.is_v6() ? address.to_v6().is_link_local()
                                          : (address.to_v4().to_uint() >> 16) == 0xA9FE;  // 169.254.0.0/16
    return !is_special && !is_local;
}

std::optional<asio::ip::address> parse_address(const std::string& text) {
    boost::system::error_code error;
    const auto address = asio::ip::make_address(text, error);
    return error ? std::nullopt : std::optional(address);
}

// Reports whether the first label of a URL's host is the host's name, e.g. "pve2" of
// https://pve2.example.com:8006. An IP address has no such label.
bool is_named(const std::string& url_host, const std::string& host) {
    if (parse_address(url_host)) return false;
    return base::lower_case(url_host.substr(0, url_host.find('.'))) == base::lower_case(host);
}

bool leads_to(const std::string& url, const std::string& host, const std::string& ip) {
    const auto url_host = base::parse_url(url).host;
    const auto address = parse_address(url_host);
    return is_named(url_host, host) || (address && address == parse_address(ip));
}

asio::awaitable<json::value> read_status(ProxmoxClient& client) {
    try {
        co_return co_await client.read(get_cluster_status());
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::permission) throw;
    }
    co_return json::value();
}

}  // namespace

HostPresences parse_host_presences(const json::value& status, const json::value& hosts) {
    HostPresences result;
    for (const auto* entry : objects_of(status)) {
        const auto name = text_of(*entry, "name");
        if (text_of(*entry, "type") != "node" || !is_host_name(name)) continue;
        result[name].ip = text_of(*entry, "ip");
        result[name].answered = flag_of(*entry, "local");
    }
    for (const auto* entry : objects_of(hosts)) {
        const auto name = text_of(*entry, "node");
        const auto fingerprint = text_of(*entry, "ssl_fingerprint");
        if (is_host_name(name) && is_fingerprint(fingerprint)) result[name].fingerprint_sha256 = fingerprint;
    }
    return result;
}

std::optional<HostAddress> address_of(const std::string& host, const HostPresences& hosts,
                                      const Endpoints& endpoints) {
    const auto found = hosts.find(host);
    const auto presence = found == hosts.end() ? HostPresence() : found->second;
    const auto endpoint = std::ranges::find_if(
        endpoints.urls, [&](const std::string& url) { return leads_to(url, host, presence.ip); });
    if (endpoint != endpoints.urls.end()) return HostAddress{host, *endpoint, ""};
    if (presence.answered) return HostAddress{host, endpoints.asked, ""};
    const auto address = parse_address(presence.ip);
    const bool is_verifiable = !presence.fingerprint_sha256.empty() || endpoints.has_ca;
    if (!address || !is_of_a_host(*address) || !is_verifiable) return std::nullopt;
    const auto text = address->to_string();
    return HostAddress{host, "https://" + (address->is_v6() ? "[" + text + "]" : text) + kPort,
                       presence.fingerprint_sha256};
}

asio::awaitable<std::optional<HostAddress>> HostAddresses::of(std::string host) {
    const auto avoided = avoided_until_.find(host);
    if (avoided != avoided_until_.end() && clock_.now() < avoided->second) co_return std::nullopt;
    // If an endpoint has the host's name, no request is needed.
    const auto named = address_of(host, {}, {client_.endpoints(), "", false});
    if (named) co_return named;
    if (!read_at_ || clock_.now() - *read_at_ >= kAge) co_await refresh();
    co_return address_of(host, hosts_, {client_.endpoints(), asked_, client_.has_ca()});
}

asio::awaitable<void> HostAddresses::refresh() {
    const auto hosts = co_await client_.read(get_hosts());
    const auto status = co_await read_status(client_);
    // No other request ran in between, so this is the endpoint that answered.
    asked_ = client_.current_endpoint();
    hosts_ = parse_host_presences(status, hosts);
    read_at_ = clock_.now();
}

void HostAddresses::avoid(const std::string& host) {
    avoided_until_[host] = clock_.now() + kAvoided;
    // The host's certificate may have been renewed.
    read_at_.reset();
}

}  // namespace providers::proxmox
