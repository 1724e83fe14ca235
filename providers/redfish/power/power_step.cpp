#include "providers/redfish/power/power_step.hpp"

#include <algorithm>
#include <iterator>

namespace providers::redfish {

using api::v1alpha1::PowerOffMode;

namespace {

// A request that had no effect (a BMC that was busy with the one before) is made again after this.
constexpr base::Duration kAskAgain = std::chrono::seconds{20};
// Off counts when it was seen twice this far apart, ...
constexpr base::Duration kSettled = std::chrono::seconds{5};
// ... and this far when the host may just have been turned on: BMCs remember a PowerState for a minute.
constexpr base::Duration kRemembered = std::chrono::seconds{65};

bool is_older(const std::optional<base::TimePoint>& when, base::Duration age, base::TimePoint now) {
    return !when || now - *when >= age;
}

}  // namespace

OnStep next_on_step(const System& system, const Progress& progress, const PowerLimits& limits,
                    base::TimePoint now) {
    if (system.power == PowerState::on) return OnStep::done;
    const bool is_late = progress.on_asked && now - *progress.on_asked >= limits.power;
    if (system.power == PowerState::off && progress.has_been_on) return OnStep::fell_back;
    if (is_late) return OnStep::too_late;
    if (system.power == PowerState::off && is_older(progress.on_asked_last, kAskAgain, now))
        return OnStep::ask;
    return OnStep::wait;
}

OffStep next_off_step(const System& system, const Progress& progress, bool can_shut_down,
                      const PowerLimits& limits, base::TimePoint now) {
    if (system.power == PowerState::off) {
        const auto wait = progress.may_be_on ? kRemembered : kSettled;
        if (progress.off_seen && now - *progress.off_seen >= wait) return OffStep::done;
        const bool doubtful = progress.may_be_on && !progress.force_asked;
        return doubtful ? OffStep::ask_by_force : OffStep::wait;
    }
    const bool never_cuts = limits.mode == PowerOffMode::GracefulOnly;
    const bool asks_first =
        limits.mode != PowerOffMode::Force && can_shut_down && (progress.has_system || never_cuts);
    if (asks_first && !progress.force_asked) {
        if (!progress.off_asked) return OffStep::ask_gracefully;
        const bool in_time = now - *progress.off_asked < limits.graceful;
        if (in_time || never_cuts) return OffStep::wait;
    }
    if (never_cuts) return OffStep::wait;
    return is_older(progress.force_asked_last, kAskAgain, now) ? OffStep::ask_by_force : OffStep::wait;
}

base::Duration next_look(int looks) {
    static constexpr int kSeconds[] = {2, 3, 5, 8, 13, 15};
    const auto index =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::max(looks, 0)), 0, std::size(kSeconds) - 1);
    return std::chrono::seconds{kSeconds[index]};
}

}  // namespace providers::redfish
