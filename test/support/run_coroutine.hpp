// Runs a coroutine to its end in virtual time.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <stdexcept>

#include "test/support/virtual_clock.hpp"

namespace test {

namespace asio = boost::asio;

// Returns the coroutine's result or rethrows its failure. Throws std::runtime_error if it takes longer than
// `limit`.
template <class T>
T run(asio::io_context& context, fake::VirtualClock& clock, asio::awaitable<T> work,
      base::Duration limit = std::chrono::hours{1}) {
    std::optional<T> result;
    std::exception_ptr failure;
    bool ended = false;
    asio::co_spawn(context, std::move(work), [&](std::exception_ptr error, T value) {
        failure = error;
        result = std::move(value);
        ended = true;
    });
    const auto deadline = clock.now() + limit;
    while (!ended && clock.now() < deadline) clock.run_for(context, std::chrono::milliseconds{10});
    if (!ended) throw std::runtime_error("the coroutine did not end in time");
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
}

inline void run(asio::io_context& context, fake::VirtualClock& clock, asio::awaitable<void> work,
                base::Duration limit = std::chrono::hours{1}) {
    auto wrapped = [](asio::awaitable<void> inner) -> asio::awaitable<bool> {
        co_await std::move(inner);
        co_return true;
    };
    run(context, clock, wrapped(std::move(work)), limit);
}

}  // namespace test
