// One BMC as an HTTP server: connections that live as long as somebody visits, redirects, the fence, and a
// circuit breaker for BMCs that do not answer. Knows nothing of who we are.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/url.hpp"
#include "providers/redfish/bmc/bmc_error.hpp"
#include "providers/redfish/bmc/traffic.hpp"

namespace providers::redfish {

// What a request may change: nothing, our own session, or the host (which is for the leader alone).
enum class Effect { none, session, host };

struct WireOptions {
    std::string host;  // NodeSmithHost, for messages
    base::HttpClientOptions http;
    base::Duration request_timeout = std::chrono::seconds{60};
    std::size_t parallel = 1;  // visits at a time
};

class Wire {
public:
    // Throws std::invalid_argument for a wrong URL. `traffic` must outlive this.
    Wire(WireOptions options, Traffic& traffic);

    // While it lives, the connections to the BMC are kept; the last one closes them, because connections that
    // stay open choke BMCs.
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
    // Waits for its turn; must end before the Wire does.
    asio::awaitable<Visit> visit();

    // Sends once and follows redirects to the same origin (method and body are kept; 303 becomes a GET).
    // `tried` completes "...: what went wrong". Throws RedfishError of kind unreachable or outcome_unknown,
    // FencedError.
    asio::awaitable<base::HttpResponse> send(std::string tried, base::HttpRequest request, Effect effect);

    const base::Url& origin() const { return origin_; }
    const std::string& host() const { return options_.host; }
    // When asking is worthwhile again; nullopt: now.
    std::optional<base::Duration> pause() const;
    // The first call after a pause should be one that needs no credentials.
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
