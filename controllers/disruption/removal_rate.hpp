// How many nodes were removed lately, for rateLimits.maxRemovalsPerHour. Forgets with the process.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "api/resource.hpp"
#include "base/clock.hpp"

namespace controllers::disruption {

class RemovalRate {
public:
    explicit RemovalRate(const base::Clock& clock) : clock_(clock) {}

    void count(const api::ObjectKey& manager) { removals_[manager].push_back(clock_.now()); }
    std::int64_t last_hour(const api::ObjectKey& manager) {
        auto& times = removals_[manager];
        while (!times.empty() && clock_.now() - times.front() > std::chrono::hours{1}) times.pop_front();
        return static_cast<std::int64_t>(times.size());
    }

private:
    const base::Clock& clock_;
    std::map<api::ObjectKey, std::deque<base::TimePoint>> removals_;
};

}  // namespace controllers::disruption
