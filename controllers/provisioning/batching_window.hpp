// Collects a burst of demand into one decision. It is made when nothing new came for the idle duration, at
// the latest after the maximum. While demand keeps coming, early looks find what is certain already. It is a
// plain value; the caller supplies the time.
#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.hpp"

namespace controllers::provisioning {

struct BatchingDurations {
    base::Duration idle = std::chrono::seconds{1};
    base::Duration maximum = std::chrono::seconds{10};
};

class BatchingWindow {
public:
    // Notes new demand, which opens or extends the window.
    void note_demand(base::TimePoint now) {
        note_change(now);
        last_demand_ = now;
    }
    // Notes another change that may alter the decision. It opens the window but does not extend it.
    void note_change(base::TimePoint now) {
        if (!opened_) opened_ = last_demand_ = looked_ = now;
    }
    bool is_open() const { return opened_.has_value(); }
    // Returns when to decide. The window must be open.
    base::TimePoint closes_at(const BatchingDurations& durations) const {
        return std::min(last_demand_ + durations.idle, *opened_ + durations.maximum);
    }
    // Returns when to look for certain launches; nullopt: the window closes earlier. The window must be open.
    std::optional<base::TimePoint> looks_early_at(const BatchingDurations& durations) const {
        const auto at = looked_ + durations.idle;
        return at < closes_at(durations) ? std::optional(at) : std::nullopt;
    }
    // Notes that certain launches were made. The rest waits as if the window had opened with it.
    // `waits_since` is the arrival time of its first pod.
    void note_early_look(base::TimePoint now, base::TimePoint waits_since) {
        looked_ = now;
        if (opened_) opened_ = std::max(*opened_, waits_since);
    }
    void close() { opened_.reset(); }

private:
    std::optional<base::TimePoint> opened_;
    base::TimePoint last_demand_{};
    base::TimePoint looked_{};
};

}  // namespace controllers::provisioning
