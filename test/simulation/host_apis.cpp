#include "test/simulation/host_apis.hpp"

#include <stdexcept>

#include "test/simulators/proxmox/core/transport.hpp"

namespace simulation {
namespace {

constexpr const char* kNowhere = "nowhere";

// Returns the host of https://host:port.
std::string host_of(const std::string& url) {
    const auto begin = url.find("//") + 2;
    return url.substr(begin, url.find_first_of(":/", begin) - begin);
}

}  // namespace

// PinnedTransport checks the certificate at each request, because connections do not outlive their daemon.
class HostApis::PinnedTransport final : public base::HttpTransport {
public:
    PinnedTransport(const std::string& shown, std::string pinned,
                    std::unique_ptr<base::HttpTransport> transport)
        : shown_(shown), pinned_(std::move(pinned)), transport_(std::move(transport)) {}

    boost::asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        if (pinned_ != shown_)
            throw base::TransportError("the server's certificate has SHA-256 fingerprint " + shown_ +
                                           ", which is not the pinned one",
                                       false);
        co_return co_await transport_->send(std::move(request));
    }

    boost::asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        co_return co_await transport_->open(std::move(request));
    }

private:
    const std::string& shown_;
    std::string pinned_;
    std::unique_ptr<base::HttpTransport> transport_;
};

// NamedTransport resolves the name at each request, because connections do not outlive a change of the DNS
// for long.
class HostApis::NamedTransport final : public base::HttpTransport {
public:
    NamedTransport(HostApis& apis, std::string host) : apis_(apis), host_(std::move(host)) {}

    boost::asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        auto& simulator = apis_.other_ ? *apis_.other_ : apis_.proxmox_;
        proxmox_simulator::SimulatorTransport transport(simulator, apis_.other_ ? std::string() : host_);
        co_return co_await transport.send(std::move(request));
    }

    boost::asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest) override {
        throw base::TransportError("the Proxmox simulator has no streams", false);
        co_return nullptr;
    }

private:
    HostApis& apis_;
    std::string host_;
};

HostApis::HostApis(proxmox_simulator::Simulator& proxmox, bool are_reachable)
    : proxmox_(proxmox), are_reachable_(are_reachable) {
    for (const auto& host : proxmox.cluster().world.hosts)
        certificates_[host.name] = {host.certificate_fingerprint, {host.certificate_fingerprint}};
}

std::unique_ptr<base::HttpTransport> HostApis::connect(const base::HttpClientOptions& options) {
    const auto name = host_of(options.url);
    for (const auto& host : proxmox_.cluster().world.hosts) {
        if (host.name == name) return std::make_unique<NamedTransport>(*this, host.name);
        if (host.ip == name) return connect_to_host(host.name, options);
    }
    throw std::logic_error("connects to " + options.url + ", where nobody is");
}

std::unique_ptr<base::HttpTransport> HostApis::connect_to_host(const std::string& host,
                                                               const base::HttpClientOptions& options) {
    const auto& certificates = certificates_.at(host);
    const auto pinned = options.tls.fingerprint_sha256.value_or("");
    const bool is_proven = certificates.all.contains(pinned) && !options.tls.insecure_skip_verify;
    if (!is_proven) throw std::logic_error("connects to " + options.url + " whoever answers there");
    auto transport = std::make_unique<proxmox_simulator::SimulatorTransport>(
        proxmox_, are_reachable_ ? host : std::string(kNowhere));
    return std::make_unique<PinnedTransport>(certificates.shown, pinned, std::move(transport));
}

void HostApis::renew_certificate(const std::string& host) {
    auto& told = proxmox_.cluster().find_host(host)->certificate_fingerprint;
    told = proxmox_simulator::made_up_fingerprint(told);
    certificates_.at(host).all.insert(told);
}

void HostApis::restart_daemon(const std::string& host) {
    certificates_.at(host).shown = proxmox_.cluster().find_host(host)->certificate_fingerprint;
}

}  // namespace simulation
