// The one calendar of an operator: that of the API server, known from the Date of its answers. What others
// write into objects is by that clock or near it, so a wrong clock of the operator's host decides nothing.
// Between two answers it advances with the steady clock. When the answers do not agree with it any more, it
// follows them by at most a tenth of the time that passes: no jump of any clock makes a deadline due, and a
// period is never shorter by more than a tenth.
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
    // Until the first answer is there the calendar is that of `local`, which outlives this clock.
    ServerClock(base::Clock& local, base::MetricsRegistry& metrics);

    base::TimePoint now() const override { return local_.now(); }
    base::WallTime wall_now() const override;
    base::WallTime readers_now() const override;
    [[nodiscard]] std::unique_ptr<base::Alarm> call_at(base::TimePoint deadline,
                                                       std::function<void()> callback) override {
        return local_.call_at(deadline, std::move(callback));
    }

    // Takes the time from each answer that passes through; this clock outlives what is returned.
    std::unique_ptr<base::HttpTransport> listen(std::unique_ptr<base::HttpTransport> api_server);
    // An answer to what was asked at `asked` has just arrived, and says that it was written at `date`.
    void hear(base::TimePoint asked, base::WallTime date);
    // How far the host's clock is ahead of the API server's; negative: behind.
    base::Duration lead() const;
    // Tells people of that difference; empty: the clocks agree.
    std::string describe_difference() const;

private:
    void report();

    base::Clock& local_;
    // Both are added to the time of the steady clock.
    std::optional<base::Duration> offset_;  // of this calendar
    base::Duration heard_{};                // of the API server's, by its last answer
    base::TimePoint heard_at_{};
    base::Duration reported_{};
    std::unique_ptr<base::MetricsRegistry::Hook> exposition_;
};

}  // namespace kube
