// ServerClock is the operator's only calendar. It follows the API server's clock, known from the Date of its
// answers. Other writers of objects use that clock or a similar one. A wrong clock of the operator's host
// therefore has no effect. Between two answers it advances with the steady clock. If answers disagree with
// it, it follows them by at most a tenth of the passing time. So a jump of a clock never makes a deadline
// due, and no period is shortened by more than a tenth.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/http.hpp"
#include "base/metrics.hpp"

namespace kube {

class ServerClock final : public base::Clock {
public:
    // Until the first answer the calendar is that of `local`, which must outlive this.
    ServerClock(base::Clock& local, base::MetricsRegistry& metrics);

    base::TimePoint now() const override { return local_.now(); }
    base::WallTime wall_now() const override;
    base::WallTime readers_now() const override;
    [[nodiscard]] std::unique_ptr<base::Alarm> call_at(base::TimePoint deadline,
                                                       std::function<void()> callback) override {
        return local_.call_at(deadline, std::move(callback));
    }

    // Returns a transport that takes the time from each answer. This clock must outlive it.
    std::unique_ptr<base::HttpTransport> listen(std::unique_ptr<base::HttpTransport> api_server);
    // Takes the date of an answer that has just arrived; its request was sent at `asked`.
    void hear(base::TimePoint asked, base::WallTime date);
    // Returns how far the host's clock is ahead of the API server's; negative: behind.
    base::Duration lead() const;
    // Describes that difference for people; empty: the clocks agree.
    std::string describe_difference() const;

private:
    void report();

    base::Clock& local_;
    // Both are added to the time of the steady clock.
    std::optional<base::Duration> offset_;  // of this calendar
    base::Duration heard_{};                // of the API server, by its last answer
    base::TimePoint heard_at_{};
    base::Duration reported_{};
    std::unique_ptr<base::MetricsRegistry::Hook> exposition_;
};

}  // namespace kube
