// ProxmoxSession is a connection to Proxmox with an administrator's login, over a certificate that is
// trusted.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "base/metrics.hpp"
#include "base/random.hpp"
#include "operator/command_line/event_loop.hpp"
#include "providers/proxmox_setup.hpp"

namespace kubenodesmith {

struct LoginRequest {
    std::string endpoint;
    std::string administrator = "root@pam";
    std::string fingerprint;  // of the server's certificate; empty: verified as usual, or asked for
    std::string ca_file;      // PEM; empty: the system's trust store
    int password_descriptor =
        -1;  // the first line is the password, the second a second factor; -1: asked for
};

class ProxmoxSession {
public:
    // Verifies the certificate, asks for what the request lacks, and logs in. Throws UsageError,
    // std::runtime_error.
    explicit ProxmoxSession(const LoginRequest& request);

    providers::ProxmoxAdministrator& administrator() { return *administrator_; }
    // Returns the URL for spec.proxmox.endpoint.
    std::string endpoint() const { return login_.endpoint + "/api2/json"; }
    // Returns spec.proxmox.tls, which lets a provider trust the server. The cluster's CA is preferred to a
    // fingerprint, as it also holds for the other hosts and after a renewal. Empty: the system trusts it.
    boost::json::object tls(const std::string& authority_pem);

    template <class T>
    T run(boost::asio::awaitable<T> work) {
        return loop_.run(std::move(work));
    }

private:
    void trust(const LoginRequest& request);
    void accept_shown_certificate(const std::string& failure);
    // Returns why no connection is possible with these options; empty: it is.
    std::string failure_of(const base::TlsClientOptions& tls);

    EventLoop loop_;
    std::unique_ptr<base::Random> random_ = base::make_system_random();
    base::MetricsRegistry metrics_;
    providers::ProviderEnvironment environment_;
    providers::ProxmoxLogin login_;
    std::unique_ptr<providers::ProxmoxAdministrator> administrator_;
};

// Reports whether a person can be asked: standard input and standard error are a terminal.
bool is_interactive();
// Asks on standard error. Any answer except "y" and "yes" is a no.
bool confirm(const std::string& question);
// Writes to standard error, as standard output may be a file of manifests.
void say(const std::string& text);

// Returns https://HOST:PORT of "HOST", "HOST:PORT" or a URL. Proxmox' port is 8006. Throws UsageError.
std::string proxmox_origin(const std::string& endpoint);

}  // namespace kubenodesmith
