// The only way to read the time and to wait. Production code uses make_steady_clock(). Tests and the
// simulation use virtual time (test/support/), so that hours pass in milliseconds and runs repeat. All
// members must be called on the thread that runs the executor.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "base/interface.hpp"
#include "base/time.hpp"

namespace base {

namespace asio = boost::asio;

// Alarm is a pending callback. Destroying it cancels the callback.
class Alarm : public Interface {};

class Clock : public Interface {
public:
    // Returns monotonic time, for waiting and measuring.
    virtual TimePoint now() const = 0;
    // Returns calendar time, for timestamps that leave the process. The host's calendar may jump; the one
    // behind the operator's decisions does not (kube/server_clock.hpp).
    virtual WallTime wall_now() const = 0;
    // Returns calendar time by the clock of the readers of our timestamps, such as the end of a token. It
    // differs from wall_now() for a while after their clock has jumped.
    virtual WallTime readers_now() const { return wall_now(); }
    // Runs `callback` once at `deadline` (soon if it has passed), unless the alarm is destroyed before.
    [[nodiscard]] virtual std::unique_ptr<Alarm> call_at(TimePoint deadline,
                                                         std::function<void()> callback) = 0;

    // Suspends until `deadline`, at least for one turn of the loop. Throws system_error(operation_aborted) if
    // the calling coroutine is cancelled.
    asio::awaitable<void> sleep_until(TimePoint deadline);
    asio::awaitable<void> sleep_for(Duration duration);
};

std::unique_ptr<Clock> make_steady_clock(asio::any_io_executor executor);

}  // namespace base
