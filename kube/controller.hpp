// Runs one reconciler from one work queue. The loop turns failures into backoff, logs and metrics.
#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "base/interface.hpp"
#include "base/task_group.hpp"
#include "kube/api_error.hpp"
#include "kube/work_queue.hpp"

namespace kube {

struct Result {
    std::optional<base::Duration> requeue_after;  // nullopt: only after a change
};

// Returns the earlier of both; nullopt means never.
template <class Moment>
std::optional<Moment> sooner(std::optional<Moment> a, std::type_identity_t<std::optional<Moment>> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

// Reconciler is level-triggered. It gets only a key, reads the current state, and acts towards the desired
// state.
class Reconciler : public base::Interface {
public:
    // Called once, before the first key: from now on this process acts.
    virtual void begin() {}
    // An exception is a failure: it is logged, counted, and retried with backoff.
    virtual asio::awaitable<Result> reconcile(ObjectKey key) = 0;
};

struct ControllerOptions {
    std::string name;  // "claim"; label in logs and metrics
    int max_concurrent = 1;
    // Called when the API server refused a request of a reconcile, or left it unanswered.
    std::function<void(const ObjectKey&, const ApiError&)> on_error;
};

class Controller {
public:
    Controller(ControllerOptions options, Reconciler& reconciler, asio::any_io_executor executor,
               base::Clock& clock, base::MetricsRegistry& metrics);
    ~Controller();

    WorkQueue& queue();
    // Runs the workers until it is cancelled, or until all are idle after stop_accepting().
    asio::awaitable<void> run();
    // Begins an orderly end: no further key is handed out, and keys in work are finished.
    void stop_accepting();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kube
