// Decides when the machine of a node in service should be checked because it may be off.
#include <algorithm>
#include <chrono>

#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/state/disruption_state.hpp"
#include "controllers/state/pool_counts.hpp"

namespace controllers::claim {

namespace {

// A Node that is not Ready for less time often recovers by itself.
constexpr std::chrono::minutes kLookAfter{1};

// Reports whether the mode forbids actions, or is unknown.
bool only_watches(const std::optional<Hold>& hold) {
    return hold && (hold->reason == reasons::kPaused || hold->reason == reasons::kObserve ||
                    hold->reason == reasons::kUnknownValue || hold->reason == reasons::kNotSelected);
}

}  // namespace

void watch_power(const Situation& s, Decision& decision) {
    const auto since = not_ready_since(*s.node, s.claim, s.now);
    if (!since) api::remove_condition(decision.status.conditions, conditions::kPoweredOff);
    const bool has_other_work = decision.step != Step::nothing || disruption::under_way(s.claim) ||
                                disruption::is_power_cycling(s.claim);
    if (!since || only_watches(s.launch_hold) || has_other_work) return;
    const auto due = later(*since, kLookAfter);
    if (due <= s.now)
        decision.step = Step::start_machine;
    else
        decision.look_again = decision.look_again ? std::min(*decision.look_again, due) : due;
}

}  // namespace controllers::claim
