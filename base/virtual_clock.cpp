#include "base/virtual_clock.hpp"

#include <algorithm>

namespace base {

class VirtualClock::Entry final : public Alarm {
public:
    Entry(VirtualClock& clock, Key key) : clock_(clock), key_(key) {}
    ~Entry() override { clock_.alarms_.erase(key_); }

private:
    VirtualClock& clock_;
    Key key_;
};

WallTime VirtualClock::wall_now() const {
    return wall_offset_ + std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch());
}

std::unique_ptr<Alarm> VirtualClock::call_at(TimePoint deadline, std::function<void()> callback) {
    Key key{std::max(deadline, now_), ++sequence_};
    alarms_.emplace(key, std::move(callback));
    return std::make_unique<Entry>(*this, key);
}

void VirtualClock::spend() {
    if (allowance_-- == 0) throw Exhausted("the allowance of handlers and alarms is used up");
}

void VirtualClock::run_until(asio::io_context& context, TimePoint until) {
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

}  // namespace base
