#include "kube/work_queue.hpp"

#include "base/task_group.hpp"
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

kube::ObjectKey key(const std::string& name) {
    return {"n", name};
}

struct Fixture {
    asio::io_context context{1};
    fake::VirtualClock clock;
    base::MetricsRegistry metrics;
    kube::WorkQueue queue{"test", context.get_executor(), clock, metrics};
    base::TaskGroup group{context.get_executor()};
    std::vector<std::string> taken;

    ~Fixture() {
        group.stop();
        clock.run_for(context, 1s);
    }
    // Takes all present keys, without done().
    void take_all() {
        auto taker = [this]() -> asio::awaitable<void> {
            for (;;) {
                auto next = co_await queue.get();
                taken.push_back(next.name);
            }
        };
        base::TaskGroup takers(context.get_executor());
        takers.spawn(taker());
        clock.run_for(context, 0s);
        takers.stop();
        clock.run_for(context, 0s);
    }
    using Names = std::vector<std::string>;
    Names now() {
        taken.clear();
        take_all();
        return taken;
    }
    bool shows(const std::string& line) {
        return metrics.exposition().find(line + "\n") != std::string::npos;
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a key waits once, in the order of arrival") {
    for (const char* name : {"b", "a", "b"}) queue.add(key(name));
    CHECK(queue.size() == 2);
    CHECK(shows("workqueue_depth{name=\"test\"} 2"));
    CHECK(shows("workqueue_adds_total{name=\"test\"} 2"));
    CHECK(now() == Names{"b", "a"});
    CHECK(shows("workqueue_depth{name=\"test\"} 0"));
}

TEST_CASE_METHOD(Fixture, "keys that are stuck show in the metrics") {
    queue.add(key("a"));
    CHECK(now() == Names{"a"});
    clock.run_for(context, 10s);
    queue.add(key("b"));
    CHECK(now() == Names{"b"});
    clock.run_for(context, 5s);
    CHECK(shows("workqueue_unfinished_work_seconds{name=\"test\"} 20"));
    CHECK(shows("workqueue_longest_running_processor_seconds{name=\"test\"} 15"));
    queue.done(key("a"));
    queue.done(key("b"));
    CHECK(shows("workqueue_unfinished_work_seconds{name=\"test\"} 0"));
}

TEST_CASE_METHOD(Fixture, "a key added while it is processed comes again when it is done, once") {
    queue.add(key("a"));
    CHECK(now() == Names{"a"});
    queue.add(key("a"));
    queue.add(key("a"));
    CHECK(now().empty());
    queue.done(key("a"));
    CHECK(now() == Names{"a"});
    queue.done(key("a"));
    CHECK(now().empty());
}

TEST_CASE_METHOD(Fixture, "of several wishes for later the earliest wins") {
    queue.add_after(key("a"), 10s);
    queue.add_after(key("a"), 5s);
    queue.add_after(key("a"), 7s);
    clock.run_for(context, 4900ms);
    CHECK(now().empty());
    clock.run_for(context, 100ms);
    CHECK(now() == Names{"a"});
    queue.done(key("a"));
    clock.run_for(context, 1min);
    CHECK(now().empty());
}

TEST_CASE_METHOD(Fixture, "what is added now does not come again later for an older wish") {
    queue.add_after(key("a"), 10s);
    queue.add(key("a"));
    CHECK(now() == Names{"a"});
    queue.done(key("a"));
    clock.run_for(context, 1min);
    CHECK(now().empty());
}

TEST_CASE_METHOD(Fixture, "a wish for later made while the key is processed holds") {
    queue.add(key("a"));
    CHECK(now() == Names{"a"});
    queue.add_after(key("a"), 5s);
    queue.done(key("a"));
    CHECK(now().empty());
    clock.run_for(context, 5s);
    CHECK(now() == Names{"a"});
}

TEST_CASE_METHOD(Fixture, "a key whose later wish falls due while it is processed waits for done") {
    queue.add(key("a"));
    CHECK(now() == Names{"a"});
    queue.add_after(key("a"), 1s);
    clock.run_for(context, 2s);
    CHECK(now().empty());
    queue.done(key("a"));
    CHECK(now() == Names{"a"});
}

TEST_CASE_METHOD(Fixture,
                 "failures of a key wait longer and longer, up to a minute, until they are forgotten") {
    const auto wait = [this](base::Duration step = 5ms) {
        const auto start = clock.now();
        queue.add_rate_limited(key("a"));
        while (now().empty()) clock.run_for(context, step);
        queue.done(key("a"));
        return clock.now() - start;
    };
    CHECK(wait() == 5ms);
    CHECK(wait() == 10ms);
    CHECK(wait() == 20ms);
    CHECK(queue.failures(key("a")) == 3);
    CHECK(shows("workqueue_retries_total{name=\"test\"} 3"));
    queue.forget(key("a"));
    CHECK(queue.failures(key("a")) == 0);
    CHECK(wait() == 5ms);
    for (int i = 0; i < 30; ++i) CHECK(wait(1s) <= 1min);
    CHECK(wait(1s) == 1min);
    for (int i = 0; i < 30; ++i) queue.add_rate_limited(key("b"));
    queue.forget(key("b"));
    CHECK(queue.failures(key("b")) == 0);
}

TEST_CASE_METHOD(Fixture, "failures of many keys at once are spread: a burst of 100, then 10 in a second") {
    for (int i = 0; i < 150; ++i) queue.add_rate_limited(key(std::to_string(i)));
    clock.run_for(context, 50ms);
    CHECK(now().size() == 100);
    clock.run_for(context, 1s);
    const auto then = now().size();
    CHECK((then >= 9 && then <= 11));
    clock.run_for(context, 10s);
    CHECK(taken.size() + now().size() >= 39);
}

TEST_CASE_METHOD(Fixture, "a key is never handed to two workers at once") {
    int active = 0;
    int most = 0;
    int processed = 0;
    auto worker = [&]() -> asio::awaitable<void> {
        for (;;) {
            auto next = co_await queue.get();
            most = std::max(most, ++active);
            co_await clock.sleep_for(1s);
            --active;
            ++processed;
            queue.done(next);
        }
    };
    for (int i = 0; i < 3; ++i) group.spawn(worker());
    for (int i = 0; i < 50; ++i) {
        queue.add(key("same"));
        clock.run_for(context, 100ms);
    }
    clock.run_for(context, 5s);
    CHECK(most == 1);
    CHECK((processed >= 5 && processed <= 7));
}
