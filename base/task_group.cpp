#include "base/task_group.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <vector>

namespace base {

TaskGroup::TaskGroup(asio::any_io_executor executor) : executor_(executor), changed_(std::move(executor)) {}

void TaskGroup::spawn(asio::awaitable<void> work) {
    auto task = tasks_.emplace(tasks_.end());
    auto on_end = [this, task](const std::exception_ptr& failure) {
        tasks_.erase(task);
        if (failure && !stopping_) {
            failure_ = failure;
            stop();
        }
        changed_.notify_all();
    };
    asio::co_spawn(executor_, std::move(work), asio::bind_cancellation_slot(task->slot(), std::move(on_end)));
    if (stopping_) {
        auto* signal = &*task;
        asio::post(executor_, [this, signal] {
            if (owns(signal)) signal->emit(asio::cancellation_type::terminal);
        });
    }
}

void TaskGroup::stop() {
    stopping_ = true;
    std::vector<asio::cancellation_signal*> signals;
    for (auto& signal : tasks_) signals.push_back(&signal);
    // Posted, because a child's end handler erases its entry. Therefore ownership is checked again.
    for (auto* signal : signals) {
        asio::post(executor_, [this, signal] {
            if (owns(signal)) signal->emit(asio::cancellation_type::terminal);
        });
    }
}

asio::awaitable<void> TaskGroup::join() {
    bool cancelled = false;
    // Cancellation is ignored here, not reset. It stays in force for the caller, which may have caught
    // another exception and would otherwise continue.
    co_await asio::this_coro::throw_if_cancelled(false);
    while (!tasks_.empty()) {
        co_await changed_.wait_regardless();
        auto state = co_await asio::this_coro::cancellation_state;
        if (cancelled || state.cancelled() == asio::cancellation_type::none) continue;
        cancelled = true;
        stop();
    }
    co_await asio::this_coro::throw_if_cancelled(true);
    if (cancelled) throw boost::system::system_error(asio::error::operation_aborted);
    if (failure_) std::rethrow_exception(failure_);
}

asio::awaitable<bool> run_before(Clock& clock, TimePoint deadline, asio::awaitable<void> work) {
    auto executor = co_await asio::this_coro::executor;
    TaskGroup group(executor);
    bool expired = false;
    group.spawn(std::move(work));
    auto alarm = clock.call_at(deadline, [&group, &expired] {
        expired = group.size() > 0;
        group.stop();
    });
    co_await group.join();
    co_return !expired;
}

bool TaskGroup::owns(const asio::cancellation_signal* signal) const {
    return std::ranges::any_of(tasks_, [signal](const auto& task) { return &task == signal; });
}

}  // namespace base
