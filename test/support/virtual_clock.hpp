// Virtual time for tests and the simulation. Nothing waits: time jumps to the next alarm.
#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <limits>
#include <map>
#include <stdexcept>

#include "base/clock.hpp"

namespace fake {

class VirtualClock final : public base::Clock {
public:
    explicit VirtualClock(base::WallTime start = base::WallTime{std::chrono::seconds{1'800'000'000}})
        : wall_offset_(start) {}

    base::TimePoint now() const override { return now_; }
    base::WallTime wall_now() const override;
    std::unique_ptr<base::Alarm> call_at(base::TimePoint deadline, std::function<void()> callback) override;

    // run_until() throws Exhausted when its allowance is used up.
    struct Exhausted : std::runtime_error {
        using std::runtime_error::runtime_error;
    };
    // Limits how many handlers and alarms may still run. Without a limit, a handler that always wakes itself
    // would never let time pass.
    void allow(std::uint64_t steps) { allowance_ = steps; }

    // Runs every ready handler, then jumps to the next alarm, until it reaches `until`.
    void run_until(base::asio::io_context& context, base::TimePoint until);
    void run_for(base::asio::io_context& context, base::Duration duration) {
        run_until(context, now_ + duration);
    }
    // Makes calendar time jump, as NTP or a resumed machine does. Monotonic time is not affected.
    void shift_wall(base::Duration shift) {
        wall_offset_ += std::chrono::duration_cast<base::WallTime::duration>(shift);
    }

private:
    class Entry;
    void spend();
    using Key =
        std::pair<base::TimePoint, std::uint64_t>;  // equal deadlines fire in the order of their creation

    base::TimePoint now_{};
    base::WallTime wall_offset_;
    std::uint64_t sequence_ = 0;
    std::uint64_t allowance_ = std::numeric_limits<std::uint64_t>::max();
    std::map<Key, std::function<void()>> alarms_;
};

class VirtualClock::Entry final : public base::Alarm {
public:
    Entry(VirtualClock& clock, Key key) : clock_(clock), key_(key) {}
    ~Entry() override { clock_.alarms_.erase(key_); }

private:
    VirtualClock& clock_;
    Key key_;
};

inline base::WallTime VirtualClock::wall_now() const {
    return wall_offset_ + std::chrono::duration_cast<base::WallTime::duration>(now_.time_since_epoch());
}

inline std::unique_ptr<base::Alarm> VirtualClock::call_at(base::TimePoint deadline,
                                                          std::function<void()> callback) {
    Key key{std::max(deadline, now_), ++sequence_};
    alarms_.emplace(key, std::move(callback));
    return std::make_unique<Entry>(*this, key);
}

inline void VirtualClock::spend() {
    if (allowance_-- == 0) throw Exhausted("the allowance of handlers and alarms is used up");
}

inline void VirtualClock::run_until(base::asio::io_context& context, base::TimePoint until) {
    for (;;) {
        context.restart();
        while (context.poll_one() > 0) spend();
        auto next = alarms_.begin();
        if (next == alarms_.end() || next->first.first > until) break;
        now_ = std::max(now_, next->first.first);
        auto callback = std::move(next->second);
        alarms_.erase(next);
        callback();
        spend();
    }
    now_ = std::max(now_, until);
}

}  // namespace fake
