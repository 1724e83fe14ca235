// How often something was done lately, by ControlPlane: for its rateLimits. Forgets with the process.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "api/resource.hpp"
#include "base/clock.hpp"

namespace controllers {

class HourlyRate {
public:
    explicit HourlyRate(const base::Clock& clock) : clock_(clock) {}

    void count(const api::ObjectKey& manager) { times_[manager].push_back(clock_.now()); }
    std::int64_t last_hour(const api::ObjectKey& manager) {
        auto& times = times_[manager];
        while (!times.empty() && clock_.now() - times.front() >= std::chrono::hours{1}) times.pop_front();
        return static_cast<std::int64_t>(times.size());
    }

private:
    const base::Clock& clock_;
    std::map<api::ObjectKey, std::deque<base::TimePoint>> times_;
};

}  // namespace controllers
