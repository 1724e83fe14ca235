// EventLoop runs coroutines one after the other, for commands that wait for each answer.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.hpp"

namespace kubenodesmith {

class EventLoop {
public:
    EventLoop();

    boost::asio::any_io_executor executor() { return context_.get_executor(); }
    base::Clock& clock() const { return *clock_; }

    // Runs the coroutine until it ends. Rethrows its exceptions.
    template <class T>
    T run(boost::asio::awaitable<T> work) {
        std::optional<T> result;
        run_to_end(
            [](boost::asio::awaitable<T> inner, std::optional<T>& target) -> boost::asio::awaitable<void> {
                target.emplace(co_await std::move(inner));
            }(std::move(work), result));
        return std::move(*result);
    }
    void run(boost::asio::awaitable<void> work) { run_to_end(std::move(work)); }

private:
    void run_to_end(boost::asio::awaitable<void> work);

    boost::asio::io_context context_{1};
    std::unique_ptr<base::Clock> clock_;
};

}  // namespace kubenodesmith
