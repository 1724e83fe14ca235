// Where each host's own API answers and how it proves that it is that host, so that what is large need not go
// through another one.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

// What the cluster says of its hosts, by name. Empty texts: not visible.
struct HostPresence {
    std::string ip;
    std::string fingerprint_sha256;  // of its certificate
    bool answered = false;           // it is the one that was asked
};
using HostPresences = std::map<std::string, HostPresence>;
// Of GET /cluster/status, null where the token may not read it, and GET /nodes.
HostPresences parse_host_presences(const boost::json::value& status, const boost::json::value& hosts);

struct Endpoints {
    std::vector<std::string> urls;  // the configured ones
    std::string asked;              // of these the one that told
    bool has_ca = false;            // any host's certificate can be verified by a CA
};
// An endpoint that is this host; else its address in the cluster, if its certificate can be verified: by the
// fingerprint that the cluster itself keeps, or by the CA. Never is less verified than at the endpoint that
// told. nullopt: there is no such way.
std::optional<HostAddress> address_of(const std::string& host, const HostPresences& hosts,
                                      const Endpoints& endpoints);

class HostAddresses {
public:
    // Both must outlive this.
    HostAddresses(Client& client, base::Clock& clock) : client_(client), clock_(clock) {}

    // nullopt: not known, or it was found to lead nowhere a while ago.
    asio::awaitable<std::optional<HostAddress>> of(std::string host);
    // Nothing answers there, or somebody else.
    void avoid(const std::string& host);

private:
    asio::awaitable<void> refresh();

    Client& client_;
    base::Clock& clock_;
    HostPresences hosts_;
    std::string asked_;
    std::optional<base::TimePoint> read_at_;
    std::map<std::string, base::TimePoint> avoided_until_;
};

}  // namespace providers::proxmox
