// Next step to turn a host on or off, from the BMC's answers and the requests so far. Nothing here survives a
// restart, nor must it: every request is absolute and may be repeated. Pure.
#pragma once

#include <optional>

#include "api/v1alpha1/redfish.hpp"
#include "base/clock.hpp"
#include "providers/host.hpp"
#include "providers/redfish/bmc/system.hpp"

namespace providers::redfish {

// Progress records the requests to a host in this process for one claim.
struct Progress {
    std::optional<base::TimePoint> on_asked;       // first request
    std::optional<base::TimePoint> on_asked_last;  // last request
    std::optional<base::TimePoint> on_taken;       // the BMC accepted it after it reported the host as off
    std::optional<base::TimePoint> on_unanswered;  // the same, but the answer was lost
    bool has_been_on = false;                      // seen on or powering on after that
    std::optional<base::TimePoint> fell;           // off again since then
    std::optional<base::TimePoint> off_asked;      // first graceful request, whatever the answer
    std::optional<base::TimePoint> off_asked_last;
    std::optional<base::TimePoint> off_taken;  // last accepted one
    std::optional<base::TimePoint> cycled;     // last look of a power cycle that turns it off
    int off_requests = 0;                      // number of graceful requests
    bool asks_off_again = false;               // the last one was refused, or its result is unknown
    bool cannot_shut_down = false;             // as its BMC reports
    std::optional<base::TimePoint> force_asked;
    std::optional<base::TimePoint> force_asked_last;
    std::optional<base::TimePoint> off_seen;  // off since then, with no other state seen in between
    int looks = 0;                            // since the last request
    std::string refusal;  // the BMC's words for the last request of either kind; empty: it was accepted
    std::string task;     // the BMC's task for it; empty: none
    std::string task_failure;
    bool is_prepared = false;                       // the boot was prepared
    std::optional<bool> is_undone;                  // whether the removal undid that; nullopt: not tried
    std::optional<base::TimePoint> undone_in_vain;  // since then the BMC refuses to undo it
    std::optional<base::TimePoint> locked_in_vain;  // since then the BMC refuses to remove the mark
    std::optional<base::TimePoint> trouble_since;   // since then the BMC has only answered with errors
    bool is_announced = false;                      // an Event announced that its power will be cut
    std::optional<base::TimePoint> nameless_since;  // since then the BMC has reported no system UUID
    bool has_ready_node = false;  // the claim's Node was Ready at the last look of the removal
    // It was found off before this removal asked for anything. BMCs that restart say Off for a while.
    bool is_off_unasked = false;
    // State of the host when its removal began here. After a restart, unfinished steps are doubtful.
    bool may_be_on = true;   // it was recently asked to turn on: "Off" may be the BMC's cached state
    bool has_system = true;  // something runs on it that can shut itself down
};

struct PowerLimits {
    base::Duration power = std::chrono::minutes{2};
    base::Duration graceful = std::chrono::minutes{3};
    api::v1alpha1::PowerOffMode mode = api::v1alpha1::PowerOffMode::GracefulThenForce;
};

// Cause says who turned on a claimed host, or is turning it on.
enum class Cause {
    ours,
    others,   // we sent no request yet
    unclear,  // a process died before its request, or the host refused it: if its Node joins, it was ours
};
Cause cause_of(const Host& host, const Progress& progress, base::TimePoint now);

enum class OnStep {
    done,
    wait,
    ask,
    fell_back,  // it went on and off again: waiting is useless
    too_late,
};
OnStep next_on_step(const System& system, const Progress& progress, const PowerLimits& limits,
                    base::TimePoint now);

// Reports whether each On that was sent was refused. Otherwise a boot that the BMC does not show yet, for
// minutes on some, may have used up what was prepared for it, and a second preparation would install again.
bool has_booted_nothing(const Progress& progress);

// Reports whether the host has been off for so long that no cached power state explains it.
bool is_off_for_long(const std::optional<base::TimePoint>& off_since, base::TimePoint now);

// Reports whether the host is really off, rather than in the BMC's cache.
bool is_surely_off(const Progress& progress, base::TimePoint now);

enum class OffStep { done, wait, ask_gracefully, ask_by_force };
struct OffMeans {
    bool can_shut_down = false;  // the BMC offers GracefulShutdown
    bool is_ours = false;        // the running system may be turned off
};
OffStep next_off_step(const System& system, const Progress& progress, OffMeans means,
                      const PowerLimits& limits, base::TimePoint now);

// Returns the time until the next look at a host whose power is changing: 2, 3, 5, 8, 13, 15, 15, ...
// seconds.
base::Duration next_look(int looks);

}  // namespace providers::redfish
