#include "base/clock.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/condition_variable.hpp"

namespace base {
namespace {

class SteadyAlarm final : public Alarm {
public:
    SteadyAlarm(const asio::any_io_executor& executor, TimePoint deadline, std::function<void()> callback)
        : timer_(executor, deadline),
          callback_(std::make_shared<std::function<void()>>(std::move(callback))) {
        // A wait that has already completed cannot be cancelled. The weak pointer prevents the callback from
        // running after the alarm is destroyed.
        timer_.async_wait([weak = std::weak_ptr(callback_)](const boost::system::error_code& error) {
            if (auto callback = weak.lock(); callback && !error) (*callback)();
        });
    }

private:
    asio::steady_timer timer_;
    std::shared_ptr<std::function<void()>> callback_;
};

class SteadyClock final : public Clock {
public:
    explicit SteadyClock(asio::any_io_executor executor) : executor_(std::move(executor)) {}
    TimePoint now() const override { return std::chrono::steady_clock::now(); }
    WallTime wall_now() const override { return std::chrono::system_clock::now(); }
    std::unique_ptr<Alarm> call_at(TimePoint deadline, std::function<void()> callback) override {
        return std::make_unique<SteadyAlarm>(executor_, deadline, std::move(callback));
    }

private:
    asio::any_io_executor executor_;
};

}  // namespace

asio::awaitable<void> Clock::sleep_until(TimePoint deadline) {
    auto executor = co_await asio::this_coro::executor;
    ConditionVariable due(executor);
    bool is_due = false;
    auto alarm = call_at(deadline, [&due, &is_due] {
        is_due = true;
        due.notify_all();
    });
    while (!is_due) co_await due.wait();
}

asio::awaitable<void> Clock::sleep_for(Duration duration) {
    return sleep_until(now() + duration);
}

std::unique_ptr<Clock> make_steady_clock(asio::any_io_executor executor) {
    return std::make_unique<SteadyClock>(std::move(executor));
}

}  // namespace base
