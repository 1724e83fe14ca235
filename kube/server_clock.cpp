#include "kube/server_clock.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/time.hpp"
#include "base/http_date.hpp"
#include "base/log.hpp"

namespace kube {
namespace {

constexpr std::int64_t kShare = 10;
// Correcting more than a second at a time would be a jump again.
constexpr base::Duration kMostSilence = std::chrono::seconds{10};
// Dates have whole seconds, and answers take time.
constexpr base::Duration kTolerance = std::chrono::seconds{5};
// The difference is reported again only after it has changed by this much.
constexpr base::Duration kNews = std::chrono::seconds{30};

// Reports whether the Date is from the API server. Dates of errors may come from a proxy.
bool is_of_api_server(const base::HttpResponse& answer) {
    return answer.status >= 200 && answer.status < 300;
}

base::Duration magnitude(base::Duration duration) {
    return duration < base::Duration::zero() ? -duration : duration;
}

class ListeningTransport final : public base::HttpTransport {
public:
    ListeningTransport(ServerClock& clock, std::unique_ptr<base::HttpTransport> transport)
        : clock_(clock), transport_(std::move(transport)) {}

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        const auto asked = clock_.now();
        auto answer = co_await transport_->send(std::move(request));
        take_time(asked, answer);
        co_return answer;
    }

    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        const auto asked = clock_.now();
        auto stream = co_await transport_->open(std::move(request));
        take_time(asked, stream->head());
        co_return stream;
    }

private:
    void take_time(base::TimePoint asked, const base::HttpResponse& answer) {
        const auto text = is_of_api_server(answer) ? answer.headers.find("Date") : std::nullopt;
        const auto date = text ? base::parse_http_date(*text) : std::nullopt;
        if (date) clock_.hear(asked, *date);
    }

    ServerClock& clock_;
    std::unique_ptr<base::HttpTransport> transport_;
};

}  // namespace

ServerClock::ServerClock(base::Clock& local, base::MetricsRegistry& metrics) : local_(local) {
    auto& lead =
        metrics
            .gauge(
                "kubenodesmith_clock_lead_seconds",
                "Seconds by which this host's clock is ahead of the API server's; negative if it is behind")
            .with({});
    exposition_ = metrics.before_exposition(
        [this, &lead] { lead.set(std::chrono::duration<double>(this->lead()).count()); });
}

base::WallTime ServerClock::wall_now() const {
    if (!offset_) return local_.wall_now();
    return base::WallTime(local_.now().time_since_epoch() + *offset_);
}

base::WallTime ServerClock::readers_now() const {
    if (!offset_) return local_.wall_now();
    return base::WallTime(local_.now().time_since_epoch() + heard_);
}

std::unique_ptr<base::HttpTransport> ServerClock::listen(std::unique_ptr<base::HttpTransport> api_server) {
    return std::make_unique<ListeningTransport>(*this, std::move(api_server));
}

void ServerClock::hear(base::TimePoint asked, base::WallTime date) {
    const auto now = local_.now();
    // The answer was written between both times, within the second of its date.
    const auto least = date.time_since_epoch() - now.time_since_epoch();
    const auto most = date.time_since_epoch() + std::chrono::seconds{1} - asked.time_since_epoch();
    if (!offset_) {
        heard_ = (least + most) / 2;
        offset_ = heard_;
    }
    heard_ = std::clamp(heard_, least, most);
    const auto step = std::min(now - heard_at_, kMostSilence) / kShare;
    heard_at_ = now;
    *offset_ += std::clamp(heard_ - *offset_, -step, step);
    report();
}

base::Duration ServerClock::lead() const {
    // Dates have whole seconds, so the result is not finer.
    return std::chrono::round<std::chrono::seconds>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(local_.wall_now() - readers_now()));
}

std::string ServerClock::describe_difference() const {
    const auto difference = lead();
    if (magnitude(difference) <= kTolerance) return {};
    const bool is_ahead = difference > base::Duration::zero();
    const auto length = api::Duration(magnitude(difference)).str();
    return "the clock of the operator's host is " + length + (is_ahead ? " ahead of" : " behind") +
           " the API server's. The operator uses the API server's clock, but certificates are checked "
           "against the host's clock, so they may count as " +
           (is_ahead ? "expired" : "not valid yet") + ". Set the host's clock, or start its time service";
}

void ServerClock::report() {
    const auto difference = lead();
    if (magnitude(difference - reported_) < kNews) return;
    reported_ = difference;
    const auto text = describe_difference();
    if (text.empty())
        base::log::info("The clock of the operator's host agrees with the API server's again");
    else
        base::log::warning("The clocks differ", {{"difference", text}});
}

}  // namespace kube
