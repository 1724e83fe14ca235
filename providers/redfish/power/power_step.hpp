// What to do next so that a host is on, or off: decisions over what its BMC says and what was asked of it.
// Nothing here survives a restart, and nothing has to: every request is absolute and may be repeated. Pure.
#pragma once

#include <optional>

#include "api/v1alpha1/redfish.hpp"
#include "base/clock.hpp"
#include "providers/host.hpp"
#include "providers/redfish/bmc/system.hpp"

namespace providers::redfish {

// What was asked of a host in this process for one claim.
struct Progress {
    std::optional<base::TimePoint> on_asked;       // first
    std::optional<base::TimePoint> on_asked_last;  // most recently
    std::optional<base::TimePoint> on_taken;       // the BMC took it; it had said right before that it is off
    std::optional<base::TimePoint> on_unanswered;  // the same, but the answer was lost
    bool has_been_on = false;                      // seen on or powering on after that
    std::optional<base::TimePoint> off_asked;      // gracefully: first, whatever the answer was
    std::optional<base::TimePoint> off_asked_last;
    std::optional<base::TimePoint> off_taken;  // most recently
    int off_requests = 0;                      // gracefully, in all
    bool asks_off_again = false;               // the last one was refused, or nobody knows
    bool cannot_shut_down = false;             // as its BMC says
    std::optional<base::TimePoint> force_asked;
    std::optional<base::TimePoint> force_asked_last;
    std::optional<base::TimePoint> off_seen;  // off since, without a look in between that said otherwise
    int looks = 0;                            // since the last request
    std::string refusal;  // in the BMC's words, of the last request of either kind; empty: it was taken
    std::string task;     // what the BMC works on since then; empty: nothing
    std::string task_failure;
    bool is_prepared = false;                       // for its boot
    std::optional<base::TimePoint> trouble_since;   // its BMC answered with nothing but errors
    bool is_announced = false;                      // people were told that its power will be cut
    std::optional<base::TimePoint> nameless_since;  // its BMC tells no system UUID
    bool has_ready_node = false;  // the claim's Node was Ready when the removal was last looked at
    // How the host was when its removal began here; what a restart finds half-done is doubtful.
    bool may_be_on = true;   // it was asked to turn on not long ago: "Off" may be what its BMC remembers
    bool has_system = true;  // something runs on it that can shut itself down
};

struct PowerLimits {
    base::Duration power = std::chrono::minutes{2};
    base::Duration graceful = std::chrono::minutes{3};
    api::v1alpha1::PowerOffMode mode = api::v1alpha1::PowerOffMode::GracefulThenForce;
};

// Whose doing it is that a host which a claim has is on, or on its way.
enum class Cause {
    ours,
    others,   // nothing was asked of it yet
    unclear,  // it was about to be asked when a process died, or it refused: its Node will show, if it joins
};
Cause cause_of(const Host& host, const Progress& progress, base::TimePoint now);

enum class OnStep {
    done,
    wait,
    ask,
    fell_back,  // it went on and off again: no use in waiting
    too_late,
};
OnStep next_on_step(const System& system, const Progress& progress, const PowerLimits& limits,
                    base::TimePoint now);

// Off is what the BMC says, and not out of memory.
bool is_surely_off(const Progress& progress, base::TimePoint now);

enum class OffStep { done, wait, ask_gracefully, ask_by_force };
struct OffMeans {
    bool can_shut_down = false;  // the BMC offers GracefulShutdown
    bool is_ours = false;        // what is on may be turned off
};
OffStep next_off_step(const System& system, const Progress& progress, OffMeans means,
                      const PowerLimits& limits, base::TimePoint now);

// The next look at a host that changes its power: 2, 3, 5, 8, 13, 15, 15, ... seconds.
base::Duration next_look(int looks);

}  // namespace providers::redfish
