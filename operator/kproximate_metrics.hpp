// kproximate's gauges for our nodes, for dashboards made for it (--legacy-kproximate-metrics).
#pragma once

#include <memory>

#include "base/metrics.hpp"
#include "report/cluster_report.hpp"

namespace kubenodesmith {

// Updates the gauges before each exposition of `registry`, as long as the returned object lives. `pods` must
// outlive it.
[[nodiscard]] std::unique_ptr<base::MetricsRegistry::Hook> add_kproximate_metrics(
    base::MetricsRegistry& registry, report::LookAtCluster look, const kube::Store<api::Pod>& pods);

}  // namespace kubenodesmith
