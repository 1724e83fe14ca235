// Metrics of the process itself, under the names of Prometheus' client libraries, and what was built.
// https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
#pragma once

#include <memory>
#include <string>

#include "base/metrics.hpp"

namespace kubenodesmith {

// Read anew for each exposition of `registry`, as long as the returned object lives. Linux only (/proc).
[[nodiscard]] std::unique_ptr<base::MetricsRegistry::Hook> add_process_metrics(
    base::MetricsRegistry& registry, const std::string& version);

}  // namespace kubenodesmith
