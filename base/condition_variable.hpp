// ConditionVariable means "something changed" and wakes every coroutine that waits for it. It has no state,
// so a waiter must check its condition in a loop. Single-threaded: used only on its executor's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/clock.hpp"

namespace base {

class ConditionVariable {
public:
    explicit ConditionVariable(asio::any_io_executor executor);

    void notify_all();
    // Returns after the next notify_all(). Throws system_error(operation_aborted) if the caller is cancelled.
    asio::awaitable<void> wait();
    // Does the same, but returns early if the caller is cancelled, instead of throwing, and can still wait
    // afterwards. Callers must have switched off this_coro::throw_if_cancelled.
    asio::awaitable<void> wait_regardless();
    // Does the same as wait(), but returns at `deadline` at the latest. It may return early.
    asio::awaitable<void> wait_until(Clock& clock, TimePoint deadline);

private:
    asio::steady_timer never_;  // a timer that never expires: cancelling it wakes all waiters
};

}  // namespace base
