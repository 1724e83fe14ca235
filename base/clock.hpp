// The one way to know the time and to wait. Production code uses make_steady_clock(); tests and the
// simulation use virtual time (test/support/), so that hours pass in milliseconds and runs repeat.
// All members are called on the thread that runs the executor.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "base/interface.hpp"
#include "base/time.hpp"

namespace base {

namespace asio = boost::asio;

// A pending callback; destroying it cancels the callback.
class Alarm : public Interface {};

class Clock : public Interface {
public:
    // Monotonic time, for waiting and measuring.
    virtual TimePoint now() const = 0;
    // Calendar time, for timestamps that leave the process. That of the host may jump; what the operator
    // decides by does not (kube/server_clock.hpp).
    virtual WallTime wall_now() const = 0;
    // Calendar time by the clock of those who act on the timestamps that we write, such as the end of a
    // token. It differs from wall_now() for a while after their clock has jumped.
    virtual WallTime readers_now() const { return wall_now(); }
    // Runs `callback` once at `deadline` (soon, if that is past) unless the alarm is destroyed before.
    [[nodiscard]] virtual std::unique_ptr<Alarm> call_at(TimePoint deadline,
                                                         std::function<void()> callback) = 0;

    // Suspends until `deadline`, at least for one turn of the loop.
    // Throws system_error(operation_aborted) if the calling coroutine is cancelled.
    asio::awaitable<void> sleep_until(TimePoint deadline);
    asio::awaitable<void> sleep_for(Duration duration);
};

std::unique_ptr<Clock> make_steady_clock(asio::any_io_executor executor);

}  // namespace base
