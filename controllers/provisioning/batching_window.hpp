// Collects a burst of demand into one decision: it is made when nothing new came for the idle duration, at
// the latest after the maximal duration. A value; the caller tells the time.
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
    // New demand: opens the window, or extends it.
    void note_demand(base::TimePoint now) {
        note_change(now);
        last_demand_ = now;
    }
    // Something else that may alter the decision: opens the window, but does not extend it.
    void note_change(base::TimePoint now) {
        if (!opened_) opened_ = last_demand_ = now;
    }
    bool is_open() const { return opened_.has_value(); }
    // When to decide. The window is open.
    base::TimePoint closes_at(const BatchingDurations& durations) const {
        return std::min(last_demand_ + durations.idle, *opened_ + durations.maximum);
    }
    void close() { opened_.reset(); }

private:
    std::optional<base::TimePoint> opened_;
    base::TimePoint last_demand_{};
};

}  // namespace controllers::provisioning
