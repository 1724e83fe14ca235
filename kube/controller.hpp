// Drives one reconciler from one work queue: the loop that turns failures into backoff, logs and metrics.
#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "base/interface.hpp"
#include "base/task_group.hpp"
#include "kube/work_queue.hpp"

namespace kube {

struct Result {
    std::optional<base::Duration> requeue_after;  // nullopt: only when something changes
};

// The sooner of both; nullopt is never.
template <class Moment>
std::optional<Moment> sooner(std::optional<Moment> a, std::type_identity_t<std::optional<Moment>> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

// Level-triggered: gets a key and nothing else, looks at what is, and acts towards what should be.
class Reconciler : public base::Interface {
public:
    // An exception is a failure: logged, counted, tried again with backoff.
    virtual asio::awaitable<Result> reconcile(ObjectKey key) = 0;
};

struct ControllerOptions {
    std::string name;  // "claim"; label of logs and metrics
    int max_concurrent = 1;
};

class Controller {
public:
    Controller(ControllerOptions options, Reconciler& reconciler, asio::any_io_executor executor,
               base::Clock& clock, base::MetricsRegistry& metrics);
    ~Controller();

    WorkQueue& queue();
    // Runs the workers until cancelled, or until all are idle after stop_accepting().
    asio::awaitable<void> run();
    // Orderly end: no further key is handed out, keys in work are finished.
    void stop_accepting();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kube
