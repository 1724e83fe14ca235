#include "base/condition_variable.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace base {

ConditionVariable::ConditionVariable(asio::any_io_executor executor) : never_(executor, TimePoint::max()) {}

void ConditionVariable::notify_all() {
    never_.cancel();
}

asio::awaitable<void> ConditionVariable::wait_regardless() {
    boost::system::error_code error;
    co_await never_.async_wait(asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<void> ConditionVariable::wait() {
    co_await wait_regardless();
    auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
}

asio::awaitable<void> ConditionVariable::wait_until(Clock& clock, TimePoint deadline) {
    auto alarm = clock.call_at(deadline, [this] { notify_all(); });
    co_await wait();
}

}  // namespace base
