// Metrics of the process itself, with the names of Prometheus' client libraries, and the version.
// https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/metrics.hpp"

namespace kubenodesmith {

// Updates the metrics before each exposition of `registry`, as long as the returned object lives. Linux only
// (/proc).
[[nodiscard]] std::unique_ptr<base::MetricsRegistry::Hook> add_process_metrics(
    base::MetricsRegistry& registry, const std::string& version);

// LoopWatch measures how long one task blocked the operator's loop. Meanwhile nothing else runs, not even the
// renewal of the Lease. It measures the thread's CPU time, as a busy computer is no fault of the operator.
class LoopWatch {
public:
    static constexpr base::Duration kWindow = std::chrono::minutes{5};
    static constexpr base::Duration kWorthAWord = std::chrono::seconds{1};

    // Adds kubenodesmith_loop_longest_seconds to `registry`. Both must outlive this.
    LoopWatch(base::MetricsRegistry& registry, const base::Clock& clock);

    // Runs the loop until it has no work left.
    void run(boost::asio::io_context& loop);

private:
    void note(base::Duration held);
    void turn_window();

    const base::Clock& clock_;
    base::TimePoint window_began_;
    base::Duration longest_{};            // in the current window
    base::Duration longest_of_before_{};  // in the previous window
    base::Gauge& gauge_;
    std::unique_ptr<base::MetricsRegistry::Hook> exposition_;
};

}  // namespace kubenodesmith
