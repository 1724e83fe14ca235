#include "kube/controller.hpp"

#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class Script final : public kube::Reconciler {
public:
    explicit Script(base::Clock& clock) : clock_(clock) {}
    std::vector<std::string> calls;
    int failures = 0;
    std::optional<kube::ApiError> refusal;  // thrown instead of another failure
    base::Duration duration{};
    kube::Result result;
    int active = 0;
    int most_active = 0;
    int finished = 0;

    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override {
        calls.push_back(key.name);
        most_active = std::max(most_active, ++active);
        struct Leave {
            int& count;
            ~Leave() { --count; }
        } leave{active};
        if (duration > 0s) co_await clock_.sleep_for(duration);
        if (failures > 0) {
            --failures;
            if (refusal) throw *refusal;
            throw std::runtime_error("scripted failure");
        }
        ++finished;
        co_return result;
    }

private:
    base::Clock& clock_;
};

struct Fixture {
    asio::io_context context{1};
    fake::VirtualClock clock;
    base::MetricsRegistry metrics;
    Script script{clock};
    kube::Controller controller{{"test", 2}, script, context.get_executor(), clock, metrics};
    base::TaskGroup group{context.get_executor()};

    Fixture() { group.spawn(controller.run()); }
    ~Fixture() {
        group.stop();
        clock.run_for(context, 1s);
        CHECK(group.size() == 0);
    }
    void add(const std::string& name) { controller.queue().add({"n", name}); }
    bool shows(const std::string& line) {
        return metrics.exposition().find(line + "\n") != std::string::npos;
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a key that was reconciled comes again only when somebody says so") {
    add("a");
    clock.run_for(context, 1h);
    CHECK(script.calls.size() == 1);
    CHECK(shows("controller_runtime_reconcile_total{controller=\"test\",result=\"success\"} 1"));
}

TEST_CASE_METHOD(Fixture, "a failure is tried again with backoff and forgotten after success") {
    script.failures = 3;
    add("a");
    clock.run_for(context, 1s);
    CHECK(script.calls.size() == 4);
    CHECK(controller.queue().failures({"n", "a"}) == 0);
    CHECK(shows("controller_runtime_reconcile_total{controller=\"test\",result=\"error\"} 3"));
    CHECK(shows("controller_runtime_reconcile_total{controller=\"test\",result=\"success\"} 1"));
}

TEST_CASE_METHOD(Fixture, "a key whose server asks to be left alone waits as long, five minutes at most") {
    script.failures = 2;
    script.refusal.emplace("GET pods", 429, "TooManyRequests", "busy");
    script.refusal->retry_after = 1min;
    add("a");
    clock.run_for(context, 59s);
    CHECK(script.calls.size() == 1);
    script.refusal->retry_after = 24h;
    clock.run_for(context, 2s);
    CHECK(script.calls.size() == 2);
    clock.run_for(context, 4min + 58s);
    CHECK(script.calls.size() == 2);
    clock.run_for(context, 2s);
    CHECK(script.calls.size() == 3);
}

TEST_CASE("who runs a controller hears of each answer of the API server that stops a reconcile") {
    asio::io_context context{1};
    fake::VirtualClock clock;
    base::MetricsRegistry metrics;
    Script script{clock};
    std::vector<std::string> heard;
    kube::ControllerOptions options{"test", 1};
    options.on_error = [&heard](const kube::ObjectKey& key, const kube::ApiError& error) {
        heard.push_back(key.str() + ": " + error.message);
    };
    kube::Controller controller{options, script, context.get_executor(), clock, metrics};
    base::TaskGroup group{context.get_executor()};
    group.spawn(controller.run());
    script.failures = 1;
    script.refusal = kube::ApiError("PATCH", 504, "Timeout", "a webhook may hang");
    controller.queue().add({"n", "a"});
    clock.run_for(context, 1s);
    CHECK(heard == std::vector<std::string>{"n/a: a webhook may hang"});
    // Somebody else wrote the object first; the next look sees it.
    script.failures = 1;
    script.refusal = kube::ApiError("PATCH", 409, "Conflict", "changed");
    controller.queue().add({"n", "b"});
    clock.run_for(context, 1s);
    CHECK(heard.size() == 1);
    group.stop();
    clock.run_for(context, 1s);
}

TEST_CASE_METHOD(Fixture, "a wish to come back is kept to the second") {
    script.result.requeue_after = 10s;
    add("a");
    clock.run_for(context, 35s);
    CHECK(script.calls.size() == 4);
}

TEST_CASE_METHOD(Fixture, "no more keys are in work than allowed") {
    script.duration = 1s;
    for (const char* name : {"a", "b", "c", "d"}) add(name);
    clock.run_for(context, 1500ms);
    CHECK(script.most_active == 2);
    CHECK(shows("controller_runtime_active_workers{controller=\"test\"} 2"));
    clock.run_for(context, 1s);
    CHECK(script.finished == 4);
}

TEST_CASE_METHOD(Fixture, "an orderly end finishes what is in work and begins nothing new") {
    script.duration = 5s;
    for (const char* name : {"a", "b", "c"}) add(name);
    clock.run_for(context, 1s);
    controller.stop_accepting();
    clock.run_for(context, 1s);
    CHECK(group.size() == 1);
    clock.run_for(context, 10s);
    CHECK(group.size() == 0);
    CHECK(script.finished == 2);
    CHECK(script.calls.size() == 2);
}

TEST_CASE_METHOD(Fixture, "a cancelled controller ends in the middle of its work") {
    script.duration = 1h;
    add("a");
    clock.run_for(context, 1s);
    group.stop();
    clock.run_for(context, 1s);
    CHECK(group.size() == 0);
    CHECK(script.active == 0);
    CHECK(script.finished == 0);
    CHECK(shows("controller_runtime_active_workers{controller=\"test\"} 0"));
}
