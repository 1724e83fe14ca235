// Each Proxmox host's own API: which host a connection ends at, and which certificate it shows.
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
    // `are_reachable`: not only the configured endpoint, but each host at its address. The simulator must
    // outlive this.
    HostApis(proxmox_simulator::Simulator& proxmox, bool are_reachable);

    // What connects must be pinned to a certificate that the host has or had, unless it is the endpoint:
    // std::logic_error. A certificate that is not the one shown ends a request before it is sent.
    std::unique_ptr<base::HttpTransport> connect(const base::HttpClientOptions& options);

    // From now on the endpoint's name leads to another cluster; null: to the right one again. It must outlive
    // that.
    void lead_to(proxmox_simulator::Simulator* other) { other_ = other; }
    bool leads_elsewhere() const { return other_ != nullptr; }

    // The cluster tells of the new certificate at once; the host's daemon shows it when it is restarted, as
    // `pvenode cert set` without --restart leaves it.
    void renew_certificate(const std::string& host);
    void restart_daemon(const std::string& host);

private:
    class PinnedTransport;
    class NamedTransport;

    struct Certificates {
        std::string shown;
        std::set<std::string> all;  // it has or had
    };

    std::unique_ptr<base::HttpTransport> connect_to_host(const std::string& host,
                                                         const base::HttpClientOptions& options);

    proxmox_simulator::Simulator& proxmox_;
    bool are_reachable_;
    proxmox_simulator::Simulator* other_ = nullptr;
    std::map<std::string, Certificates> certificates_;  // by host
};

}  // namespace simulation
