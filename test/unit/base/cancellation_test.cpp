// Tests that cancelled work ends. Otherwise the informers of a stopped process would go on for ever.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/task_group.hpp"
#include "test/support/catch.hpp"
#include "test/support/virtual_clock.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;

TEST_CASE("whoever is cancelled while bounded work runs stays cancelled, whatever he catches") {
    asio::io_context context{1};
    fake::VirtualClock clock;
    base::TaskGroup group(context.get_executor());
    int rounds = 0;
    auto bounded_work = [&]() -> asio::awaitable<void> { co_await clock.sleep_for(1h); };
    auto stubborn = [&]() -> asio::awaitable<void> {
        for (;;) {
            ++rounds;
            try {
                co_await base::run_before(clock, clock.now() + 2h, bounded_work());
            } catch (const std::exception&) {  // taken for a failure of the work
            }
            co_await clock.sleep_for(1s);
        }
    };
    group.spawn(stubborn());
    clock.run_for(context, 1min);
    group.stop();
    clock.run_for(context, 1min);
    CHECK(group.size() == 0);
    CHECK(rounds == 1);
}

TEST_CASE("bounded work is over before its caller's cancellation goes on") {
    asio::io_context context{1};
    fake::VirtualClock clock;
    base::TaskGroup group(context.get_executor());
    bool ended = false, aborted_after_end = false;
    auto slow_to_end = [&]() -> asio::awaitable<void> {
        struct Mark {
            bool& flag;
            ~Mark() { flag = true; }
        } mark{ended};
        co_await clock.sleep_for(1h);
    };
    auto caller = [&]() -> asio::awaitable<void> {
        try {
            co_await base::run_before(clock, clock.now() + 2h, slow_to_end());
        } catch (const boost::system::system_error&) {
            aborted_after_end = ended;
            throw;
        }
    };
    group.spawn(caller());
    clock.run_for(context, 1min);
    group.stop();
    clock.run_for(context, 1s);
    CHECK(aborted_after_end);
}
