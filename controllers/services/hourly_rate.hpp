// How often something was done lately, by ControlPlane: for its rateLimits. Forgets with the process, and
// with the ControlPlane: another one of the same name starts afresh.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers {

class HourlyRate {
public:
    explicit HourlyRate(const base::Clock& clock) : clock_(clock) {}

    void count(const NodeSmithControlPlane& manager) {
        std::erase_if(times_, [this](const auto& known) { return !is_recent(known.second.back()); });
        times_[manager.metadata.uid].push_back(clock_.now());
    }
    std::int64_t last_hour(const NodeSmithControlPlane& manager) {
        const auto known = times_.find(manager.metadata.uid);
        if (known == times_.end()) return 0;
        auto& times = known->second;
        while (!times.empty() && !is_recent(times.front())) times.pop_front();
        if (times.empty()) {
            times_.erase(known);
            return 0;
        }
        return static_cast<std::int64_t>(times.size());
    }

private:
    bool is_recent(base::TimePoint time) const { return clock_.now() - time < std::chrono::hours{1}; }

    const base::Clock& clock_;
    std::map<std::string, std::deque<base::TimePoint>> times_;  // by UID; never empty
};

}  // namespace controllers
