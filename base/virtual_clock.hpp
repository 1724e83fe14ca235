// Virtual time for tests and the simulation: nothing waits, time jumps to the next alarm.
#pragma once

#include <boost/asio/io_context.hpp>
#include <limits>
#include <map>
#include <stdexcept>

#include "base/clock.hpp"

namespace base {

class VirtualClock final : public Clock {
public:
    explicit VirtualClock(WallTime start = WallTime{std::chrono::seconds{1'800'000'000}})
        : wall_offset_(start) {}

    TimePoint now() const override { return now_; }
    WallTime wall_now() const override;
    std::unique_ptr<Alarm> call_at(TimePoint deadline, std::function<void()> callback) override;

    // What run_until() throws when its allowance is used up.
    struct Exhausted : std::runtime_error {
        using std::runtime_error::runtime_error;
    };
    // So many handlers and alarms may still run: what wakes itself up for ever would never let time pass.
    void allow(std::uint64_t steps) { allowance_ = steps; }

    // Runs everything that is ready, then jumps to the next alarm, until `until` is reached.
    void run_until(asio::io_context& context, TimePoint until);
    void run_for(asio::io_context& context, Duration duration) { run_until(context, now_ + duration); }
    // Makes calendar time jump, as NTP or a resumed machine does; monotonic time goes on.
    void shift_wall(Duration shift) { wall_offset_ += std::chrono::duration_cast<WallTime::duration>(shift); }

private:
    class Entry;
    void spend();
    using Key = std::pair<TimePoint, std::uint64_t>;  // equal deadlines fire in the order of their creation

    TimePoint now_{};
    WallTime wall_offset_;
    std::uint64_t sequence_ = 0;
    std::uint64_t allowance_ = std::numeric_limits<std::uint64_t>::max();
    std::map<Key, std::function<void()>> alarms_;
};

}  // namespace base
