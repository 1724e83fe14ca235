// A Proxmox VE cluster in memory: answers API requests as the real one does, in the time it takes, driven by
// the injected clock and random source only. No I/O; single-threaded: used on its executor's thread.
//
// It keeps its own table of endpoints and validates everything, so that it judges a client rather than
// mirrors it. Behaviour is written down from Proxmox VE 9.2 (qemu-server 9.2.6).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "base/http.hpp"
#include "test/simulators/proxmox/core/cluster.hpp"
#include "test/simulators/proxmox/core/request_parameters.hpp"

namespace proxmox_simulator {

// One served request, for logs and for tests that count. Secrets are masked.
struct RequestRecord {
    base::WallTime time;
    std::string method, path;  // the path is decoded and without /api2/json
    json::object parameters;
    std::string user, entry_host;
    int status = 0;
    std::string reason;
    base::Duration duration{};
};

class Simulator {
public:
    // `clock` and `random` must outlive it.
    Simulator(asio::any_io_executor executor, base::Clock& clock, base::Random& random, World world);

    // Serves one request that arrived at `entry_host` (empty: the first host). The work goes on when the
    // caller is cancelled, as a server's does when the client hangs up. Throws base::TransportError if that
    // host is off or a fault loses the connection.
    asio::awaitable<base::HttpResponse> handle(base::HttpRequest request, std::string entry_host = {});

    // For servers: the answer to a request whose head alone is wrong, so that its body need not be read.
    static std::optional<base::HttpResponse> refuse(const base::HttpRequest& head);

    // For tests and the control interface: state, power, faults, hooks.
    Cluster& cluster() { return cluster_; }
    const Cluster& cluster() const { return cluster_; }
    ScriptedFaults& faults() { return scripted_; }
    void observe(std::function<void(const RequestRecord&)> observer) { observer_ = std::move(observer); }

    // Ends all workers; after this nothing of it is left on the executor but the statistics' alarm.
    asio::awaitable<void> shut_down();

private:
    struct Exchange;

    asio::awaitable<void> serve(std::shared_ptr<Exchange> exchange);
    asio::awaitable<std::optional<base::HttpResponse>> answer(Exchange& exchange);
    asio::awaitable<void> strike(RequestFault fault);
    asio::awaitable<json::object> dispatch(Exchange& exchange);
    void cut_off_in_time(Exchange& exchange);
    asio::awaitable<json::object> execute(Exchange& exchange, Call& call);
    void authenticate(Exchange& exchange, const Endpoint* endpoint);
    void check_permission(const Endpoint& endpoint, const json::object& parameters,
                          const std::string& user) const;
    asio::awaitable<void> reach_host(const std::string& entry_host, const std::string& name);
    void record(const Exchange& exchange);

    Cluster cluster_;
    ScriptedFaults scripted_;
    std::map<std::string, int> busy_daemon_workers_;
    base::Event daemon_worker_free_;
    std::function<void(const RequestRecord&)> observer_;
};

}  // namespace proxmox_simulator
