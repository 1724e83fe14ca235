#include "providers/redfish/power/power_step.hpp"

#include <algorithm>
#include <iterator>

#include "base/backoff.hpp"

namespace providers::redfish {

using api::v1alpha1::PowerOffMode;

namespace {

// A request without effect is repeated after this time. The BMC may have been busy with the one before.
constexpr base::Duration kAskAgain = std::chrono::seconds{20};
constexpr base::Backoff kAskForEver{std::chrono::seconds{20}, std::chrono::minutes{10}};
// A host counts as off when two looks this far apart saw it off, ...
constexpr base::Duration kSettled = std::chrono::seconds{5};
// ... or this far apart if it may just have been turned on, as BMCs cache a PowerState for a minute.
constexpr base::Duration kRemembered = std::chrono::seconds{65};

// A change seen this soon after a request with a lost answer is that request's effect.
constexpr base::Duration kShowsWithin = std::chrono::seconds{10};

bool is_older(const std::optional<base::TimePoint>& when, base::Duration age, base::TimePoint now) {
    return !when || now - *when >= age;
}

}  // namespace

Cause cause_of(const Host& host, const Progress& progress, base::TimePoint now) {
    if (host.use.woken || host.is_given || progress.on_taken) return Cause::ours;
    if (host.use.stage == HostStage::reserved) return Cause::others;
    const bool shows = progress.on_unanswered && now - *progress.on_unanswered <= kShowsWithin;
    return shows ? Cause::ours : Cause::unclear;
}

OnStep next_on_step(const System& system, const Progress& progress, const PowerLimits& limits,
                    base::TimePoint now) {
    if (system.power == PowerState::on) return OnStep::done;
    const bool is_late = progress.on_asked && now - *progress.on_asked >= limits.power;
    // One look that says so may be the answer of a BMC that restarts.
    const bool has_fallen = progress.fell && now - *progress.fell >= kRemembered;
    if (has_fallen) return OnStep::fell_back;
    if (is_late) return OnStep::too_late;
    if (progress.fell) return OnStep::wait;
    if (system.power == PowerState::off && is_older(progress.on_asked_last, kAskAgain, now))
        return OnStep::ask;
    return OnStep::wait;
}

bool has_booted_nothing(const Progress& progress) {
    // What an earlier process asked for is not known here.
    return progress.is_prepared && !progress.on_taken && !progress.on_unanswered;
}

bool is_off_for_long(const std::optional<base::TimePoint>& off_since, base::TimePoint now) {
    return off_since && now - *off_since >= kRemembered;
}

bool is_surely_off(const Progress& progress, base::TimePoint now) {
    const bool is_doubtful = progress.may_be_on || progress.is_off_unasked;
    return progress.off_seen && now - *progress.off_seen >= (is_doubtful ? kRemembered : kSettled);
}

namespace {

// Returns the end of the grace period. It starts with the first request, whatever its result, or with a later
// accepted one, within limits.
base::TimePoint end_of_grace(const Progress& progress, const PowerLimits& limits) {
    const auto from = progress.off_taken.value_or(*progress.off_asked);
    return std::min(from + limits.graceful, *progress.off_asked + limits.graceful + limits.graceful);
}

// Returns nullopt if asking is useless or its time is over.
std::optional<OffStep> gentle_step(const Progress& progress, const PowerLimits& limits, base::TimePoint now) {
    if (!progress.off_asked) return OffStep::ask_gracefully;
    const bool never_cuts = limits.mode == PowerOffMode::GracefulOnly;
    const bool is_over = now >= end_of_grace(progress, limits) || progress.cannot_shut_down;
    if (is_over && !never_cuts) return std::nullopt;
    // If its power is never cut, it is asked without end, at growing intervals.
    const auto pause = never_cuts ? kAskForEver.after(progress.off_requests) : kAskAgain;
    const bool is_due = is_older(progress.off_asked_last, pause, now);
    return is_due && (is_over || progress.asks_off_again) ? OffStep::ask_gracefully : OffStep::wait;
}

}  // namespace

OffStep next_off_step(const System& system, const Progress& progress, OffMeans means,
                      const PowerLimits& limits, base::TimePoint now) {
    const bool never_cuts = limits.mode == PowerOffMode::GracefulOnly;
    const bool asks_first = limits.mode != PowerOffMode::Force && means.can_shut_down &&
                            (progress.has_system || never_cuts) && !progress.force_asked;
    if (system.power == PowerState::off) {
        // A Ready Node proves that something is running there. Then "Off" is only the BMC's cached state, or
        // the host still shuts down.
        const bool may_run = progress.may_be_on || progress.is_off_unasked;
        const bool runs = (may_run || progress.off_asked) && progress.has_ready_node && !progress.force_asked;
        const bool is_sure = is_surely_off(progress, now);
        if (is_sure && !runs) return OffStep::done;
        // A Node stays Ready for most of a minute after its host went off.
        if (!may_run && !is_off_for_long(progress.off_seen, now)) return OffStep::wait;
        // The next looks show whether the BMC is wrong, or the Node not Ready any more.
        const bool is_open = progress.is_off_unasked && !progress.may_be_on && !progress.off_asked;
        if (is_open && !(is_sure && runs)) return OffStep::wait;
        const bool is_doubtful = (may_run || runs) && !progress.force_asked;
        if (!is_doubtful || !means.is_ours || never_cuts) return OffStep::wait;
        const bool is_asked = runs || progress.off_asked;
        const auto gentle = is_asked && asks_first ? gentle_step(progress, limits, now) : std::nullopt;
        return gentle.value_or(OffStep::ask_by_force);
    }
    if (!means.is_ours) return OffStep::wait;
    const auto gentle = asks_first ? gentle_step(progress, limits, now) : std::nullopt;
    if (gentle) return *gentle;
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
