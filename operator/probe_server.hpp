// The operator's HTTP answers: /healthz, /readyz, /metrics, /debug/state and /status.
#pragma once

#include <functional>
#include <string>

#include "base/http_server.hpp"

namespace kubenodesmith {

struct Readiness {
    bool ready = false;
    std::string message;  // what the operator waits for
    std::string details;  // one line for each cache, for /readyz?verbose
};

// Answers /healthz (the loop is running) and /readyz (caches are synced; with ?verbose also their ages).
base::HttpHandler make_probe_handler(std::function<Readiness()> readiness);

struct Pages {
    std::function<std::string()> metrics;          // Prometheus text, at /metrics
    std::function<std::string()> state;            // JSON, at /debug/state
    std::function<std::string()> status_document;  // JSON of the page at /status; null: no such page
};
base::HttpHandler make_metrics_handler(Pages pages);

}  // namespace kubenodesmith
