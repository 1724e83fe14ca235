// Collects a burst of demand into one decision: it is made when nothing new came for the idle duration, at
// the latest after the maximal duration. While demand keeps coming, looks in between find what is certain
// already. A value; the caller tells the time.
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
        if (!opened_) opened_ = last_demand_ = looked_ = now;
    }
    bool is_open() const { return opened_.has_value(); }
    // When to decide. The window is open.
    base::TimePoint closes_at(const BatchingDurations& durations) const {
        return std::min(last_demand_ + durations.idle, *opened_ + durations.maximum);
    }
    // When to look for what is certain; nullopt: it closes before. The window is open.
    std::optional<base::TimePoint> looks_early_at(const BatchingDurations& durations) const {
        const auto at = looked_ + durations.idle;
        return at < closes_at(durations) ? std::optional(at) : std::nullopt;
    }
    // What was certain is launched. The rest waits as long as if the window had opened with it: `waits_since`
    // is when its first pod came.
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
