// kproximate's gauges over our nodes, for dashboards made for it (--legacy-kproximate-metrics).
#pragma once

#include <memory>

#include "base/metrics.hpp"
#include "controllers/cache/informers.hpp"

namespace kubenodesmith {

// Read anew for each exposition of `registry`, as long as the returned object lives; `informers` must outlive
// it.
[[nodiscard]] std::unique_ptr<base::MetricsRegistry::Hook> add_kproximate_metrics(
    base::MetricsRegistry& registry, const controllers::Informers& informers);

}  // namespace kubenodesmith
