// Everything between operator processes and servers: latency, lost answers, dead connections, late and cut
// watches, and the moments at which a process is killed. The servers and models behind it know nothing of
// this.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/http.hpp"
#include "base/task_group.hpp"
#include "test/simulation/faults.hpp"
#include "test/simulation/network/process.hpp"
#include "test/support/fake_api_server.hpp"

namespace simulation {

// Admission says how long webhooks take, and whether they refuse the request.
struct Admission {
    base::Duration takes{};
    std::optional<base::HttpResponse> refusal;
};

class Network {
public:
    Network(asio::any_io_executor executor, base::Clock& clock, FaultPlan& faults, Trace& trace);

    // Connects a process to the API server.
    std::unique_ptr<base::HttpTransport> connect(Process& process, fake::ApiServer& server);
    // Connects a process to a provider, around the server's own transport.
    std::unique_ptr<base::HttpTransport> connect(Process& process,
                                                 std::unique_ptr<base::HttpTransport> provider);

    // Cuts the process off: the API server does not answer it until then.
    void cut_off(const Process& process, base::TimePoint until) { cut_off_[process.name()] = until; }
    bool is_cut_off(const Process& process) const;
    // Breaks the connection of every watch.
    void drop_watches() { ++watch_generation_; }

    // Returns the process whose request the API server is serving; null for a user or controller.
    const Process* acting() const { return acting_; }
    // Returns the refusal of a request for which the process lacks a right; empty if it has every right.
    std::function<std::optional<base::HttpResponse>(const base::HttpRequest&)> authorize;
    // Returns what admission webhooks do to an allowed request.
    std::function<Admission(const base::HttpRequest&)> admit;
    // Called after each request of a process that took effect or that the server itself refused.
    std::function<void(const Process&, const base::HttpRequest&, const base::HttpResponse&)> on_api_request;
    // Called when a request of a process leaves for the API server. Watches are left out.
    std::function<void(const Process&, const base::HttpRequest&)> on_api_departure;
    // Called when a request of a process leaves for a provider. It cannot be called back then.
    std::vector<std::function<void(const base::HttpRequest&)>> on_departure;
    // Reports whether the provider takes the request and never answers it.
    std::function<bool(const base::HttpRequest&)> provider_hangs;
    // Returns the provider's refusal of a request, which then does not take effect; empty: it obeys.
    std::function<std::optional<base::HttpResponse>(const base::HttpRequest&)> provider_refuses;
    // Called when a process was killed at a request.
    std::function<void(Process&)> on_killed;

    // Ends the requests that are still under way.
    asio::awaitable<void> shut_down();

private:
    class Wire;
    class ApiWire;
    class ProviderWire;
    class WireStream;

    std::optional<base::HttpResponse> forbid(const base::HttpRequest& request) const;
    base::HttpResponse serve(const Process& process, fake::ApiServer& server,
                             const base::HttpRequest& request);
    // Kills the process with the probability of the seed, and throws if it does.
    void maybe_kill(Process& process);

    asio::any_io_executor executor_;
    base::Clock& clock_;
    FaultPlan& faults_;
    Trace& trace_;
    base::TaskGroup late_;
    const Process* acting_ = nullptr;
    std::map<std::string, base::TimePoint> cut_off_;
    std::uint64_t watch_generation_ = 0;
};

}  // namespace simulation
