// "Something changed": wakes every coroutine that waits for it. It carries no state, so a waiter
// checks its condition in a loop. Single-threaded: used only on its executor's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/clock.hpp"

namespace base {

class Event {
public:
    explicit Event(asio::any_io_executor executor);

    void notify_all();
    // Returns after the next notify_all(). Throws system_error(operation_aborted) if the caller is cancelled.
    asio::awaitable<void> wait();
    // The same, but returns early instead of throwing when the caller is cancelled, and waits on after that.
    // Callers must have switched off this_coro::throw_if_cancelled.
    asio::awaitable<void> wait_regardless();
    // The same as wait(), but returns at the latest at `deadline`; a spurious early return is possible.
    asio::awaitable<void> wait_until(Clock& clock, TimePoint deadline);

private:
    asio::steady_timer never_;  // a timer that never expires: cancelling it wakes all waiters at once
};

}  // namespace base
