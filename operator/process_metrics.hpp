// Metrics of the process itself, under the names of Prometheus' client libraries, and what was built.
// https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/metrics.hpp"

namespace kubenodesmith {

// Read anew for each exposition of `registry`, as long as the returned object lives. Linux only (/proc).
[[nodiscard]] std::unique_ptr<base::MetricsRegistry::Hook> add_process_metrics(
    base::MetricsRegistry& registry, const std::string& version);

// How long one thing held the loop on which all of the operator runs: nothing else is done meanwhile, not
// even the renewal of the Lease. Measured as CPU time of the thread, so that a busy machine is not taken for
// a fault.
class LoopWatch {
public:
    static constexpr base::Duration kWindow = std::chrono::minutes{5};
    static constexpr base::Duration kWorthAWord = std::chrono::seconds{1};

    // Adds kubenodesmith_loop_longest_seconds to `registry`. Both must outlive this.
    LoopWatch(base::MetricsRegistry& registry, const base::Clock& clock);

    // Runs the loop until it has nothing left to do.
    void run(boost::asio::io_context& loop);

private:
    void note(base::Duration held);
    void turn_window();

    const base::Clock& clock_;
    base::TimePoint window_began_;
    base::Duration longest_{};            // of the present window
    base::Duration longest_of_before_{};  // of the window before
    base::Gauge& gauge_;
    std::unique_ptr<base::MetricsRegistry::Hook> exposition_;
};

}  // namespace kubenodesmith
