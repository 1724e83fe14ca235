// A Proxmox VE cluster in memory. It answers API requests as the real one does, and takes as long.
// The injected clock and random source are its only drivers. It does no I/O and runs only on its executor's
// thread.
//
// It has its own table of endpoints and validates everything, so it judges a client rather than mirrors it.
// Its behaviour is written down from Proxmox VE 9.2 (qemu-server 9.2.6).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "base/http.hpp"
#include "test/simulators/proxmox/core/cluster.hpp"
#include "test/simulators/proxmox/core/request_parameters.hpp"

namespace proxmox_simulator {

// RequestRecord is one served request, for logs and for tests that count. Its secrets are masked.
struct RequestRecord {
    base::WallTime time;
    std::string method, path;  // the path is decoded and lacks /api2/json
    json::object parameters;
    std::string user, entry_host;
    int status = 0;
    std::string reason;
    base::Duration duration{};
};

class Simulator {
public:
    // `clock` and `random` must outlive the simulator.
    Simulator(asio::any_io_executor executor, base::Clock& clock, base::Random& random, World world);

    // Serves one request that arrived at `entry_host` (empty: the first host). If the caller is cancelled,
    // the work goes on, as in a server whose client hangs up. Throws base::TransportError if that host is off
    // or a fault loses the connection.
    asio::awaitable<base::HttpResponse> handle(base::HttpRequest request, std::string entry_host = {});

    // Returns the answer to a request whose head alone is wrong. A server then need not read its body.
    static std::optional<base::HttpResponse> refuse(const base::HttpRequest& head);

    // Gives tests and the control interface access to state, power, faults and hooks.
    Cluster& cluster() { return cluster_; }
    const Cluster& cluster() const { return cluster_; }
    ScriptedFaults& faults() { return scripted_; }
    void observe(std::function<void(const RequestRecord&)> observer) { observer_ = std::move(observer); }

    // Ends all workers. Afterwards only the statistics' alarm remains on the executor.
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
    base::ConditionVariable daemon_worker_free_;
    std::function<void(const RequestRecord&)> observer_;
};

}  // namespace proxmox_simulator
