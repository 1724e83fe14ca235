// Everything between operator processes and the servers: latency, lost answers, dead connections, late and
// cut watches, and the moments at which a process is killed. Servers and models below it know nothing of
// this.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/http.hpp"
#include "base/task_group.hpp"
#include "test/simulation/faults.hpp"
#include "test/simulation/network/process.hpp"
#include "test/support/fake_api_server.hpp"

namespace simulation {

// It takes so long, and may refuse.
struct Admission {
    base::Duration takes{};
    std::optional<base::HttpResponse> refusal;
};

class Network {
public:
    Network(asio::any_io_executor executor, base::Clock& clock, FaultPlan& faults, Trace& trace);

    // A process' connection to the API server.
    std::unique_ptr<base::HttpTransport> connect(Process& process, fake::ApiServer& server);
    // A process' connection to a provider, around the server's own transport.
    std::unique_ptr<base::HttpTransport> connect(Process& process,
                                                 std::unique_ptr<base::HttpTransport> provider);

    // The API server does not answer this process until then.
    void cut_off(const Process& process, base::TimePoint until) { cut_off_[process.name()] = until; }
    bool is_cut_off(const Process& process) const;
    // Every watch loses its connection.
    void drop_watches() { ++watch_generation_; }

    // The process whose request the API server is serving right now; null: a user or controller.
    const Process* acting() const { return acting_; }
    // Returns the refusal of a request that the process has no right to; empty: it has all.
    std::function<std::optional<base::HttpResponse>(const base::HttpRequest&)> authorize;
    // What admission webhooks do to a request that is allowed.
    std::function<Admission(const base::HttpRequest&)> admit;
    // Called after each request of a process that had effect or was refused by the server itself.
    std::function<void(const Process&, const base::HttpRequest&, const base::HttpResponse&)> on_api_request;
    // Called when a request of a process, but for watches, leaves for the API server.
    std::function<void(const Process&, const base::HttpRequest&)> on_api_departure;
    // Called when a request of a process leaves for a provider; nothing calls it back.
    std::function<void(const base::HttpRequest&)> on_departure;
    // A request to a provider that is taken and never answered.
    std::function<bool(const base::HttpRequest&)> provider_hangs;
    // A process was killed at a request.
    std::function<void(Process&)> on_killed;

    // Ends requests that are still under way.
    asio::awaitable<void> shut_down();

private:
    class Wire;
    class ApiWire;
    class ProviderWire;
    class WireStream;

    std::optional<base::HttpResponse> forbid(const base::HttpRequest& request) const;
    base::HttpResponse serve(const Process& process, fake::ApiServer& server,
                             const base::HttpRequest& request);
    // Killed with the probability of the seed; throws then.
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
