// What the operator answers over HTTP: /healthz, /readyz, /metrics and /debug/state.
#pragma once

#include <functional>
#include <string>

#include "base/http_server.hpp"

namespace kubenodesmith {

struct Readiness {
    bool ready = false;
    std::string message;  // what is being waited for
};

// Answers /healthz (the loop runs) and /readyz (caches are synced).
base::HttpHandler make_probe_handler(std::function<Readiness()> readiness);
// Answers /metrics (`metrics`: Prometheus text) and /debug/state (`state`: JSON).
base::HttpHandler make_metrics_handler(std::function<std::string()> metrics,
                                       std::function<std::string()> state);

}  // namespace kubenodesmith
