// Parses cron expressions with five fields in UTC, as in a budget's schedule: minute, hour, day of
// month, month, day of week. It accepts lists, ranges, steps and names. If both days are restricted,
// either one suffices (crontab(5)).
#pragma once

#include <bitset>
#include <chrono>
#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace controllers::disruption {

class CronSchedule {
public:
    using Minutes = std::chrono::sys_time<std::chrono::minutes>;

    // Accepts @hourly, @daily and similar names too. Throws std::invalid_argument that names the field.
    static CronSchedule parse(std::string_view text);

    // Returns the last start at or before `now` and at most `back` ago; nullopt: none.
    std::optional<Minutes> last_start(base::WallTime now, base::Seconds back) const;

private:
    bool starts_on(std::chrono::sys_days day) const;

    std::bitset<60> minutes_;
    std::bitset<24> hours_;
    std::bitset<32> days_;
    std::bitset<13> months_;
    std::bitset<7> weekdays_;  // 0 is Sunday
    bool any_day_ = true;
    bool any_weekday_ = true;
};

}  // namespace controllers::disruption
