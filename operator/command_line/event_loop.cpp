#include "operator/command_line/event_loop.hpp"

#include <boost/asio/co_spawn.hpp>
#include <exception>

namespace kubenodesmith {

EventLoop::EventLoop() : clock_(base::make_steady_clock(context_.get_executor())) {}

void EventLoop::run_to_end(boost::asio::awaitable<void> work) {
    std::exception_ptr failure;
    context_.restart();
    boost::asio::co_spawn(context_, std::move(work),
                          [&failure](const std::exception_ptr& error) { failure = error; });
    context_.run();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace kubenodesmith
