#include "kube/controller.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <utility>

#include "base/log.hpp"
#include "kube/client.hpp"

namespace kube {
namespace {

// The names are controller-runtime's, which dashboards know.
struct ControllerMetrics {
    ControllerMetrics(base::MetricsRegistry& registry, const std::string& name)
        : success(total(registry).with({name, "success"})),
          requeue_after(total(registry).with({name, "requeue_after"})),
          requeue(total(registry).with({name, "requeue"})),
          error(total(registry).with({name, "error"})),
          active(registry
                     .gauge("controller_runtime_active_workers", "Workers that process a key now",
                            {"controller"})
                     .with({name})),
          time(registry
                   .histogram("controller_runtime_reconcile_time_seconds", "Time of one reconciliation",
                              {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60},
                              {"controller"})
                   .with({name})) {}

    static base::Family<base::Counter>& total(base::MetricsRegistry& registry) {
        return registry.counter("controller_runtime_reconcile_total", "Reconciliations by result",
                                {"controller", "result"});
    }

    base::Counter& success;
    base::Counter& requeue_after;
    base::Counter& requeue;
    base::Counter& error;
    base::Gauge& active;
    base::Histogram& time;
};

}  // namespace

struct Controller::Impl {
    Impl(ControllerOptions given, Reconciler& target, asio::any_io_executor given_executor,
         base::Clock& given_clock, base::MetricsRegistry& registry)
        : options(std::move(given)),
          reconciler(target),
          executor(std::move(given_executor)),
          clock(given_clock),
          metrics(registry, options.name),
          queue(options.name, executor, clock, registry),
          workers(executor),
          ended(executor) {}

    // Idle workers are cancelled at the end. Busy ones check `stopping` after their key.
    asio::awaitable<void> run() {
        reconciler.begin();
        for (int i = 0; i < options.max_concurrent; ++i) workers.spawn(work());
        try {
            while (!stopping && workers.size() > 0) co_await ended.wait();
            while (busy > 0) co_await ended.wait();
        } catch (const boost::system::system_error&) {
            // This was cancelled, so the workers are cancelled below.
        }
        workers.stop();
        co_await asio::this_coro::reset_cancellation_state();
        co_await workers.join();
    }

    asio::awaitable<void> work() {
        auto state = co_await asio::this_coro::cancellation_state;
        while (!stopping && state.cancelled() == asio::cancellation_type::none) {
            auto key = co_await queue.get();
            co_await process(std::move(key));
        }
        ended.notify_all();
    }

    asio::awaitable<void> process(ObjectKey key) {
        InWork in_work(*this, key);
        const auto start = clock.now();
        std::optional<Result> result;
        std::string failure;
        bool overtaken = false;
        base::Duration retry_after{};
        try {
            result = co_await reconciler.reconcile(key);
        } catch (const ApiError& error) {
            overtaken = error.is_conflict() || error.is_not_found();
            failure = error.what();
            retry_after = error.pause_wanted();
            if (!overtaken && options.on_error) options.on_error(key, error);
        } catch (const std::exception& error) {
            failure = error.what();
        }
        auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) co_return;
        if (!result) report(key, failure, overtaken);
        metrics.time.observe(std::chrono::duration<double>(clock.now() - start).count());
        if (!result) {
            (overtaken ? metrics.requeue : metrics.error).add();
            queue.add_rate_limited(key, retry_after);
        } else if (result->requeue_after) {
            metrics.requeue_after.add();
            queue.forget(key);
            queue.add_after(key, *result->requeue_after);
        } else {
            metrics.success.add();
            queue.forget(key);
        }
    }

    // Logs a failed reconcile. If somebody else wrote or deleted the object first, that is no failure: the
    // next look sees the change.
    void report(const ObjectKey& key, const std::string& error, bool overtaken) const {
        const auto level = overtaken ? base::log::Level::debug : base::log::Level::warning;
        const auto* message = overtaken ? "Someone else wrote the object first, reconciling it again"
                                        : "Reconciling failed, trying again";
        base::log::write(level, message,
                         {{"controller", options.name},
                          {"object", key.str()},
                          {"failures", queue.failures(key) + 1},
                          {"error", error}});
    }

    // InWork marks one key as being processed, also while its worker is cancelled.
    struct InWork {
        InWork(Impl& given, const ObjectKey& of) : impl(given), key(of) {
            impl.metrics.active.set(++impl.busy);
        }
        InWork(const InWork&) = delete;
        InWork& operator=(const InWork&) = delete;
        ~InWork() {
            impl.metrics.active.set(--impl.busy);
            impl.queue.done(key);
            impl.ended.notify_all();
        }
        Impl& impl;
        const ObjectKey& key;
    };

    ControllerOptions options;
    Reconciler& reconciler;
    asio::any_io_executor executor;
    base::Clock& clock;
    ControllerMetrics metrics;
    WorkQueue queue;
    base::TaskGroup workers;
    base::ConditionVariable ended;
    int busy = 0;
    bool stopping = false;
};

Controller::Controller(ControllerOptions options, Reconciler& reconciler, asio::any_io_executor executor,
                       base::Clock& clock, base::MetricsRegistry& metrics)
    : impl_(std::make_unique<Impl>(std::move(options), reconciler, std::move(executor), clock, metrics)) {}
Controller::~Controller() = default;

WorkQueue& Controller::queue() {
    return impl_->queue;
}
asio::awaitable<void> Controller::run() {
    return impl_->run();
}
void Controller::stop_accepting() {
    impl_->stopping = true;
    impl_->ended.notify_all();
}

}  // namespace kube
