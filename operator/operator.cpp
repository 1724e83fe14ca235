#include "operator/operator.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/json/serialize.hpp>
#include <exception>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/task_group.hpp"
#include "operator/admission_check.hpp"
#include "operator/api_check.hpp"
#include "operator/debug_state.hpp"
#include "operator/lease_namespace.hpp"
#include "operator/options/options.hpp"
#include "operator/status_page/document.hpp"
#include "operator/wiring.hpp"

namespace kubenodesmith {

namespace {

// The last Events are not essential: a silent API server must not delay the end.
constexpr base::Duration kFarewell = std::chrono::seconds{5};
// Interval of checks whether the work in hand has ended.
constexpr base::Duration kGlance = std::chrono::milliseconds{20};
constexpr base::Backoff kCatchUpBackoff{std::chrono::milliseconds{100}, std::chrono::seconds{5}};

}  // namespace

// Parts is the life of the operator; wiring.hpp has its components.
struct Operator::Parts {
    Parts(OperatorEnvironment environment, OperatorSettings given)
        : executor(environment.executor),
          clock(environment.clock),
          settings(std::move(given)),
          wiring(std::move(environment), settings),
          background(executor),
          leading(executor),
          changed(executor) {}

    asio::awaitable<End> run() {
        background.spawn(start());
        while (!stopping && !lost_lease && !failure) co_await changed.wait();
        if (!lost_lease) co_await finish_work();
        leading.stop();
        co_await leading.join();
        co_await wiring.provisioning.end();
        co_await wiring.drainer.end();
        // Nothing can be written without the lease.
        if (!lost_lease) co_await base::run_before(clock, clock.now() + kFarewell, wiring.events->flush());
        if (leads && !lost_lease) co_await wiring.elector->release();
        if (leads) co_await log_out();
        background.stop();
        co_await background.join();
        if (failure) std::rethrow_exception(failure);
        co_return lost_lease ? End::lost_lease : End::stopped;
    }

    // Does everything until leading. A failure that no retry can correct ends the operator.
    asio::awaitable<void> start() {
        try {
            waiting_for = "the API server and the CRDs of KubeNodeSmith";
            co_await wait_for_api(wiring.client, clock,
                                  [this](const std::string& message) { waiting_for = message; });
            waiting_for = "the caches to sync";
            background.spawn(wiring.events->run());
            wiring.informers.spawn_all(background);
            background.spawn(wiring.certificates.watch());
            co_await wiring.informers.wait_synced();
            synced = true;
            base::log::info("Caches are synced");
            if (settings.keeps_history) background.spawn(keep_history());
            co_await lead();
        } catch (const boost::system::system_error& error) {
            if (error.code() == asio::error::operation_aborted) throw;
            fail(std::current_exception());
        } catch (...) {
            fail(std::current_exception());
        }
    }

    // Takes samples, whether this process leads or not.
    asio::awaitable<void> keep_history() {
        while (true) {
            wiring.history.add(wiring.report());
            co_await clock.sleep_for(report::History::kInterval);
        }
    }

    asio::awaitable<void> lead() {
        if (settings.leader_elect) {
            auto& lease = settings.election.lease;
            if (lease.namespace_.empty()) {
                lease.namespace_ =
                    co_await find_lease_namespace(wiring.client, clock, lease.name, settings.namespaces);
                wiring.elect_by(settings.election);
            }
            base::log::info("Waiting for the lease", {{"lease", settings.election.lease.str()}});
            co_await wiring.elector->acquire();
            background.spawn(hold_lease());
            co_await catch_up();
        } else {
            base::log::warning(
                "Leader election is off (--leader-elect=false): another operator would create machines "
                "beside this one");
        }
        leads = true;
        wiring.leading = true;
        wiring.informers.report_odd_objects_to(*wiring.events);
        base::log::info("Leading", {{"identity", settings.election.identity}});
        for (const auto& controller : wiring.controllers) leading.spawn(controller->run());
        background.spawn(watch_admission_policies(wiring.client, clock));
        changed.notify_all();
    }

    // Catches up with the last leader's final writes. A decision from older data would create a second
    // machine.
    asio::awaitable<void> catch_up() {
        for (int failures = 1;; ++failures) {
            try {
                co_return co_await wiring.informers.catch_up(wiring.client);
            } catch (const boost::system::system_error&) {
                throw;  // this process itself is being cancelled
            } catch (const std::exception& error) {
                base::log::warning("Cannot read what the last leader wrote, trying again",
                                   {{"error", error.what()}});
            }
            co_await clock.sleep_for(kCatchUpBackoff.after(failures));
        }
    }

    asio::awaitable<void> hold_lease() {
        co_await wiring.elector->hold();
        base::log::error("Lost the lease: another process may lead now",
                         {{"lease", settings.election.lease.str()}});
        lost_lease = true;
        changed.notify_all();
    }

    asio::awaitable<void> finish_work() {
        for (const auto& controller : wiring.controllers) controller->stop_accepting();
        auto deadline = clock.now() + settings.grace;
        while (leading.size() > 0 && clock.now() < deadline) co_await clock.sleep_for(kGlance);
    }

    // Remaining sessions expire by themselves.
    asio::awaitable<void> log_out() {
        try {
            co_await base::run_before(clock, clock.now() + kFarewell, wiring.hosts.end_sessions());
        } catch (const boost::system::system_error&) {
            throw;  // this process itself is being cancelled
        } catch (const std::exception& error) {
            base::log::warning("Cannot end all sessions", {{"error", error.what()}});
        }
    }

    void fail(std::exception_ptr error) {
        failure = std::move(error);
        changed.notify_all();
    }

    asio::any_io_executor executor;
    base::Clock& clock;
    OperatorSettings settings;
    Wiring wiring;
    base::TaskGroup background;  // informers, Events, the lease
    base::TaskGroup leading;     // controllers
    base::ConditionVariable changed;
    std::string waiting_for = "the start";
    bool synced = false;
    bool leads = false;
    bool lost_lease = false;
    bool stopping = false;
    std::exception_ptr failure;
};

Operator::Operator(OperatorEnvironment environment, OperatorSettings settings)
    : parts_(std::make_unique<Parts>(std::move(environment), std::move(settings))) {}
Operator::~Operator() = default;

asio::awaitable<Operator::End> Operator::run() {
    return parts_->run();
}

void Operator::stop() {
    parts_->stopping = true;
    parts_->changed.notify_all();
}

base::HttpHandler Operator::boot_data_handler() {
    return bootstrap::make_seed_handler(parts_->wiring.seeds);
}

std::function<bool(const base::HttpRequest&)> Operator::boot_data_precedence() const {
    return bootstrap::make_seed_precedence(parts_->wiring.seeds);
}

kube::Client& Operator::client() {
    return parts_->wiring.client;
}

Readiness Operator::readiness() const {
    if (parts_->stopping) return {false, "stopping", {}};
    auto details = parts_->wiring.informers.describe_caches();
    if (const auto difference = parts_->wiring.server_clock.describe_difference(); !difference.empty())
        details += "clock: " + difference + "\n";
    return {parts_->synced, "waiting for " + parts_->waiting_for, std::move(details)};
}

const base::MetricsRegistry& Operator::metrics() const {
    return parts_->wiring.metrics;
}

std::string Operator::debug_state() const {
    return kubenodesmith::debug_state(parts_->wiring.report());
}

std::string Operator::status_document() const {
    const auto& wiring = parts_->wiring;
    const auto report = wiring.report();
    return boost::json::serialize(status_page::document_of(
        {.report = report, .history = wiring.history, .program = version(), .log = &wiring.decisions}));
}

}  // namespace kubenodesmith
