// The API of each Proxmox host: at which host a connection ends, and which certificate that host shows.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/http_client.hpp"
#include "test/simulators/proxmox/core/simulator.hpp"

namespace simulation {

class HostApis {
public:
    // `are_reachable` makes each host reachable at its own address, and not only the configured endpoint. The
    // simulator must outlive this object.
    HostApis(proxmox_simulator::Simulator& proxmox, bool are_reachable);

    // Connects a client. Throws std::logic_error if a client, except of the endpoint, is not pinned to a
    // certificate that the host has or had. If the host shows another certificate, a request fails before it
    // is sent.
    std::unique_ptr<base::HttpTransport> connect(const base::HttpClientOptions& options);

    // Lets the endpoint's name lead to another cluster, which must outlive this; null: to the right one
    // again.
    void lead_to(proxmox_simulator::Simulator* other) { other_ = other; }
    bool leads_elsewhere() const { return other_ != nullptr; }

    // Renews the certificate. The cluster reports the new one immediately. The host's daemon shows it after a
    // restart, as after `pvenode cert set` without --restart.
    void renew_certificate(const std::string& host);
    void restart_daemon(const std::string& host);

private:
    class PinnedTransport;
    class NamedTransport;

    struct Certificates {
        std::string shown;
        std::set<std::string> all;  // every certificate that the host has or had
    };

    std::unique_ptr<base::HttpTransport> connect_to_host(const std::string& host,
                                                         const base::HttpClientOptions& options);

    proxmox_simulator::Simulator& proxmox_;
    bool are_reachable_;
    proxmox_simulator::Simulator* other_ = nullptr;
    std::map<std::string, Certificates> certificates_;  // by host
};

}  // namespace simulation
