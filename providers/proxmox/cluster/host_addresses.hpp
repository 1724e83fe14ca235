// API address of each host, and how to verify the host. Large uploads then need no detour through another
// host.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

// HostPresence is the cluster's information about one host. Empty texts are not visible.
struct HostPresence {
    std::string ip;
    std::string fingerprint_sha256;  // of its certificate
    bool answered = false;           // this host answered the request
};
using HostPresences = std::map<std::string, HostPresence>;
// Parses GET /cluster/status (null if the token may not read it) and GET /nodes.
HostPresences parse_host_presences(const boost::json::value& status, const boost::json::value& hosts);

struct Endpoints {
    std::vector<std::string> urls;  // configured endpoints
    std::string asked;              // the endpoint that answered
    bool has_ca = false;            // a CA can verify any host's certificate
};
// Returns an endpoint on this host, or else its address in the cluster. The address must be verifiable, by
// the fingerprint that the cluster keeps or by the CA. The verification is never weaker than at the endpoint
// that answered. nullopt: no such address.
std::optional<HostAddress> address_of(const std::string& host, const HostPresences& hosts,
                                      const Endpoints& endpoints);

class HostAddresses {
public:
    // Both arguments must outlive this.
    HostAddresses(ProxmoxClient& client, base::Clock& clock) : client_(client), clock_(clock) {}

    // Returns nullopt if the address is unknown or recently failed.
    asio::awaitable<std::optional<HostAddress>> of(std::string host);
    // Avoids the address for a while, as nothing or another host answers there.
    void avoid(const std::string& host);

private:
    asio::awaitable<void> refresh();

    ProxmoxClient& client_;
    base::Clock& clock_;
    HostPresences hosts_;
    std::string asked_;
    std::optional<base::TimePoint> read_at_;
    std::map<std::string, base::TimePoint> avoided_until_;
};

}  // namespace providers::proxmox
