#include "controllers/disruption/rules/cron.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace controllers::disruption {

namespace {

struct CronField {
    const char* name;
    int lowest;
    int highest;
    std::vector<std::string_view> names = {};  // names of the values, from `lowest` on
};

const std::array<CronField, 5>& fields() {
    static const std::array<CronField, 5> kFields{
        CronField{"minute", 0, 59}, CronField{"hour", 0, 23}, CronField{"day of month", 1, 31},
        CronField{"month",
                  1,
                  12,
                  {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
        CronField{"day of week", 0, 7, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}};
    return kFields;
}

[[noreturn]] void refuse(const CronField& field, std::string_view text) {
    throw std::invalid_argument("schedule: \"" + std::string(text) + "\" is not a valid " + field.name +
                                " of a cron expression");
}

int value_of(const CronField& field, std::string_view text) {
    const auto lower = base::lower_case(text);
    for (std::size_t i = 0; i < field.names.size(); ++i)
        if (lower == field.names[i]) return field.lowest + static_cast<int>(i);
    int value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < field.lowest ||
        value > field.highest)
        refuse(field, text);
    return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find(separator, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

// Accepts "*", "5" and "1-5", each with an optional "/2"; "5/2" means from 5 on.
template <std::size_t N>
void add(std::bitset<N>& set, const CronField& field, std::string_view part) {
    const auto with_step = split(part, '/');
    if (with_step.size() > 2) refuse(field, part);
    const auto range = split(with_step[0], '-');
    if (range.size() > 2) refuse(field, part);
    int first = field.lowest;
    int last = field.highest;
    if (with_step[0] != "*") {
        first = value_of(field, range[0]);
        if (range.size() == 2) last = value_of(field, range[1]);
        if (range.size() == 1 && with_step.size() == 1) last = first;
    }
    int step = 1;
    if (with_step.size() == 2) {
        const CronField steps{field.name, 1, field.highest};
        step = value_of(steps, with_step[1]);
    }
    if (first > last) refuse(field, part);
    for (int value = first; value <= last; value += step)
        set.set(static_cast<std::size_t>(value) % (N == 7 ? 7 : N));
}

template <std::size_t N>
std::bitset<N> set_of(const CronField& field, std::string_view text) {
    std::bitset<N> set;
    for (const auto part : split(text, ',')) add(set, field, part);
    return set;
}

std::string_view expanded(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMacros{
        {{"@yearly", "0 0 1 1 *"},
         {"@annually", "0 0 1 1 *"},
         {"@monthly", "0 0 1 * *"},
         {"@weekly", "0 0 * * 0"},
         {"@daily", "0 0 * * *"},
         {"@midnight", "0 0 * * *"},
         {"@hourly", "0 * * * *"}}};
    for (const auto& [name, meaning] : kMacros)
        if (text == name) return meaning;
    return text;
}

}  // namespace

CronSchedule CronSchedule::parse(std::string_view text) {
    std::vector<std::string_view> parts;
    for (const auto part : split(expanded(text), ' '))
        if (!part.empty()) parts.push_back(part);
    if (parts.size() != fields().size())
        throw std::invalid_argument(
            "schedule: \"" + std::string(text) +
            "\" must have five fields such as \"0 9 * * 1-5\", or be @daily and the like");
    CronSchedule schedule;
    schedule.minutes_ = set_of<60>(fields()[0], parts[0]);
    schedule.hours_ = set_of<24>(fields()[1], parts[1]);
    schedule.days_ = set_of<32>(fields()[2], parts[2]);
    schedule.months_ = set_of<13>(fields()[3], parts[3]);
    schedule.weekdays_ = set_of<7>(fields()[4], parts[4]);
    schedule.any_day_ = parts[2].starts_with('*');
    schedule.any_weekday_ = parts[4].starts_with('*');
    return schedule;
}

bool CronSchedule::starts_on(std::chrono::sys_days day) const {
    const std::chrono::year_month_day date(day);
    if (!months_.test(static_cast<unsigned>(date.month()))) return false;
    const bool day_suits = days_.test(static_cast<unsigned>(date.day()));
    const bool weekday_suits = weekdays_.test(std::chrono::weekday(day).c_encoding());
    if (any_day_ || any_weekday_) return day_suits && weekday_suits;
    return day_suits || weekday_suits;
}

std::optional<CronSchedule::Minutes> CronSchedule::last_start(base::WallTime now, base::Seconds back) const {
    // The 29th of February recurs within at most eight years. A schedule without a
    // start for longer never has one.
    constexpr base::Seconds kLongestGap = std::chrono::years{9};
    const auto newest = std::chrono::floor<std::chrono::minutes>(now);
    const auto oldest = now - std::min(back, kLongestGap);
    for (auto day = std::chrono::floor<std::chrono::days>(newest); day + std::chrono::days{1} > oldest;
         day -= std::chrono::days{1}) {
        if (!starts_on(day)) continue;
        for (std::size_t hour = 24; hour-- > 0;) {
            if (!hours_.test(hour)) continue;
            for (std::size_t minute = 60; minute-- > 0;) {
                if (!minutes_.test(minute)) continue;
                const Minutes start = day + std::chrono::hours{hour} + std::chrono::minutes{minute};
                if (start > newest) continue;
                if (start < oldest) return std::nullopt;
                return start;
            }
        }
    }
    return std::nullopt;
}

}  // namespace controllers::disruption
