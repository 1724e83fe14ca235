// What the operator answers over HTTP: /healthz, /readyz, /metrics and /debug/state.
#pragma once

#include <functional>
#include <string>

#include "base/http_server.hpp"
#include "base/metrics.hpp"

namespace kubenodesmith {

struct Readiness {
    bool ready = false;
    std::string message;  // what is being waited for
};

// Answers /healthz (the loop runs) and /readyz (caches are synced).
base::HttpHandler make_probe_handler(std::function<Readiness()> readiness);
// Answers /metrics (Prometheus text) and /debug/state (JSON).
base::HttpHandler make_metrics_handler(const base::MetricsRegistry& metrics,
                                       std::function<std::string()> state);

}  // namespace kubenodesmith
