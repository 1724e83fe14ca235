// TaskGroup implements structured concurrency: it owns coroutines, and none outlives it. The first failure
// stops the siblings and is rethrown by join(). Single-threaded: used only on its executor's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <exception>
#include <list>

#include "base/condition_variable.hpp"

namespace base {

class TaskGroup {
public:
    explicit TaskGroup(asio::any_io_executor executor);
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    void spawn(asio::awaitable<void> work);
    // Cancels every child (terminal cancellation). Each ends at its next suspension point.
    void stop();
    // Returns when no child is left, and rethrows the first failure. Cancellation after stop() is no failure.
    // If the caller is cancelled, it stops the children, still waits for them, and throws
    // system_error(operation_aborted).
    asio::awaitable<void> join();
    std::size_t size() const { return tasks_.size(); }

private:
    bool owns(const asio::cancellation_signal* signal) const;

    asio::any_io_executor executor_;
    std::list<asio::cancellation_signal> tasks_;
    ConditionVariable changed_;
    std::exception_ptr failure_;
    bool stopping_ = false;
};

// Runs `work` until its end, or cancels it at `deadline`. Returns true if it ended by itself; rethrows its
// failure.
asio::awaitable<bool> run_before(Clock& clock, TimePoint deadline, asio::awaitable<void> work);

}  // namespace base
