// A real event loop for one test. It runs a coroutine with real time and real sockets on 127.0.0.1.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <optional>

#include "base/clock.hpp"
#include "base/task_group.hpp"
#include "test/support/catch.hpp"

namespace test {

namespace asio = boost::asio;

class Loop {
public:
    asio::io_context context{1};
    std::unique_ptr<base::Clock> clock = base::make_steady_clock(context.get_executor());
    base::TaskGroup background{context.get_executor()};

    // Runs `body` to its end, then stops the background tasks. Fails the test after `limit`.
    void run(std::function<asio::awaitable<void>()> body,
             std::chrono::seconds limit = std::chrono::seconds(20)) {
        bool finished = false;
        std::exception_ptr failure;
        auto all = [&]() -> asio::awaitable<void> {
            std::exception_ptr thrown;
            try {
                co_await body();
            } catch (...) {
                thrown = std::current_exception();
            }
            background.stop();
            co_await background.join();
            if (thrown) std::rethrow_exception(thrown);
        };
        asio::co_spawn(context, all, [&](std::exception_ptr error) {
            finished = true;
            failure = error;
        });
        context.restart();
        context.run_for(limit);
        if (failure) std::rethrow_exception(failure);
        REQUIRE(finished);
    }
};

}  // namespace test
