// One BMC as an HTTP server: connections that last as long as a visit, redirects, the fence, and a circuit
// breaker for silent BMCs. It does not authenticate.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/url.hpp"
#include "providers/redfish/bmc/bmc_error.hpp"
#include "providers/redfish/bmc/traffic.hpp"

namespace providers::redfish {

// Effect is what a request may change: nothing, our own session, or the host. The host may be changed only by
// the leader.
enum class Effect { none, session, host };

struct WireOptions {
    std::string host;  // NodeSmithHost, used in messages
    base::HttpClientOptions http;
    base::Duration request_timeout = std::chrono::seconds{60};
    std::size_t parallel = 1;  // concurrent visits
};

class Wire {
public:
    // Throws std::invalid_argument for an invalid URL. `traffic` must outlive this.
    Wire(WireOptions options, Traffic& traffic);

    // Visit keeps the connections to the BMC open. The last visit closes them, as open connections can block
    // BMCs.
    class Visit {
    public:
        Visit(Wire& wire, base::Gate::Pass pass) : wire_(&wire), pass_(std::move(pass)) { ++wire.visits_; }
        Visit(Visit&& other) noexcept : wire_(other.wire_), pass_(std::move(other.pass_)) {
            other.wire_ = nullptr;
        }
        Visit& operator=(Visit&&) = delete;
        ~Visit() {
            if (wire_) wire_->leave();
        }

    private:
        Wire* wire_;
        base::Gate::Pass pass_;
    };
    // Waits for its turn. The visit must end before the Wire is destroyed.
    asio::awaitable<Visit> visit();

    // Sends once and follows redirects to the same origin (method and body are kept; 303 becomes a GET).
    // `tried` is the start of "...: what went wrong". Throws RedfishError of kind unreachable or
    // outcome_unknown, FencedError.
    asio::awaitable<base::HttpResponse> send(std::string tried, base::HttpRequest request, Effect effect);

    const base::Url& origin() const { return origin_; }
    const std::string& host() const { return options_.host; }
    // Returns the time until the next useful request; nullopt: now.
    std::optional<base::Duration> pause() const;
    // Reports whether the first call after a pause should need no credentials.
    bool needs_probe() const { return failures_ >= kFailuresToOpen; }
    Traffic& traffic() { return traffic_; }
    base::TimePoint now() const { return traffic_.environment.clock.now(); }

private:
    static constexpr int kFailuresToOpen = 3;

    asio::awaitable<base::HttpResponse> transmit(const std::string& tried, base::HttpRequest request,
                                                 Effect effect);
    asio::awaitable<base::HttpResponse> exchange(const std::string& tried, base::HttpRequest request,
                                                 Effect effect);
    void decompress(base::HttpResponse& response) const;
    void leave();
    void note_success(base::Duration took);
    void note_failure(std::string what);

    WireOptions options_;
    base::Url origin_;
    Traffic& traffic_;
    base::Gate turns_;
    std::unique_ptr<base::HttpTransport> transport_;
    std::size_t visits_ = 0;
    int failures_ = 0;
    std::string last_failure_;
    base::TimePoint open_until_{};
    base::Duration latency_{};  // exponentially weighted average
};

}  // namespace providers::redfish
