// Tests virtual time, events and task groups.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <vector>

#include "base/condition_variable.hpp"
#include "base/task_group.hpp"
#include "test/support/catch.hpp"
#include "test/support/virtual_clock.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

struct Fixture {
    asio::io_context context{1};
    fake::VirtualClock clock;
    base::TaskGroup group{context.get_executor()};
    std::vector<std::string> trace;

    asio::awaitable<void> sleeper(std::string name, base::Duration duration) {
        co_await clock.sleep_for(duration);
        trace.push_back(name);
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "sleepers wake in the order of their deadlines, equal ones in the order of their arrival") {
    group.spawn(sleeper("late", 2h));
    group.spawn(sleeper("early", 1s));
    group.spawn(sleeper("also early", 1s));
    clock.run_for(context, 1s);
    CHECK(trace == std::vector<std::string>{"early", "also early"});
    clock.run_for(context, 2h);
    CHECK(trace.back() == "late");
    CHECK(group.size() == 0);
}

TEST_CASE_METHOD(Fixture, "a sleeper that is stopped leaves no alarm behind") {
    group.spawn(sleeper("never", 1h));
    clock.run_for(context, 1s);
    group.stop();
    clock.run_for(context, 1s);
    CHECK(group.size() == 0);
    CHECK(trace.empty());
}

TEST_CASE_METHOD(Fixture, "a wait with a deadline ends at the notification or at the deadline") {
    base::ConditionVariable event(context.get_executor());
    auto waiter = [&]() -> asio::awaitable<void> {
        auto began = clock.now();
        co_await event.wait_until(clock, clock.now() + 10s);
        trace.push_back(clock.now() - began == 10s ? "deadline" : "notified");
    };
    group.spawn(waiter());
    clock.run_for(context, 3s);
    event.notify_all();
    clock.run_for(context, 1s);
    group.spawn(waiter());
    clock.run_for(context, 20s);
    CHECK(trace == std::vector<std::string>{"notified", "deadline"});
}

TEST_CASE_METHOD(Fixture, "the first failure stops the siblings and is what join throws") {
    auto fails = [&]() -> asio::awaitable<void> {
        co_await clock.sleep_for(1s);
        throw std::runtime_error("first");
    };
    std::string thrown;
    auto joiner = [&]() -> asio::awaitable<void> {
        try {
            co_await group.join();
        } catch (const std::runtime_error& error) {
            thrown = error.what();
        }
    };
    group.spawn(sleeper("sibling", 1h));
    group.spawn(fails());
    base::TaskGroup outer(context.get_executor());
    outer.spawn(joiner());
    clock.run_for(context, 2s);
    CHECK(thrown == "first");
    CHECK(group.size() == 0);
    CHECK(trace.empty());
}

TEST_CASE_METHOD(Fixture, "what is spawned into a stopped group ends at its first wait") {
    group.stop();
    group.spawn(sleeper("never", 1s));
    clock.run_for(context, 5s);
    CHECK(group.size() == 0);
    CHECK(trace.empty());
}

TEST_CASE_METHOD(Fixture, "calendar time may jump without moving monotonic time") {
    auto wall = clock.wall_now();
    auto now = clock.now();
    clock.shift_wall(-1h);
    CHECK(clock.wall_now() == wall - 1h);
    CHECK(clock.now() == now);
}

TEST_CASE_METHOD(Fixture, "what keeps itself busy for ever uses up its allowance") {
    std::function<void()> again = [this, &again] { asio::post(context, again); };
    again();
    clock.allow(100);
    CHECK_THROWS_AS(clock.run_for(context, 1s), fake::VirtualClock::Exhausted);
}
