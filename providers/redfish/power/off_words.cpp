#include "providers/redfish/power/off_words.hpp"

#include "base/text.hpp"

namespace providers::redfish {

namespace {

// A host whose power is cut is off within seconds. After this time a person must look at it.
constexpr base::Duration kForceWorksWithin = std::chrono::minutes{5};

}  // namespace

std::string why_by_force(const System& system, const Progress& progress, const RedfishSettings& settings) {
    const auto& power_off = settings.spec.powerOff;
    const auto words = progress.refusal.empty() ? "" : ": " + progress.refusal;
    if (progress.cannot_shut_down) return "its BMC cannot shut it down" + words;
    if (system.power == PowerState::off && progress.off_asked && progress.has_ready_node)
        return "its BMC says Off, but its Node is still Ready after " + power_off.gracefulTimeout.str() +
               " (spec.redfish.powerOff.gracefulTimeout)";
    if (system.power == PowerState::off)
        return "its BMC says Off, which may still be the state from before it was turned on";
    if (progress.off_asked)
        return "it did not shut down within " + power_off.gracefulTimeout.str() +
               " (spec.redfish.powerOff.gracefulTimeout)" + words;
    if (power_off.mode == api::v1alpha1::PowerOffMode::Force) return "spec.redfish.powerOff.mode is Force";
    if (!progress.has_system) return "it hangs while it starts, so it cannot shut down";
    return "its BMC offers no GracefulShutdown";
}

std::string how_it_goes(const System& system, const Progress& progress, const PowerLimits& limits,
                        base::TimePoint now) {
    std::string how = progress.force_asked ? " is being turned off by force" : " is shutting down";
    const bool is_late = progress.off_asked && now >= *progress.off_asked + limits.graceful;
    const bool is_refused = !progress.refusal.empty();
    if (progress.force_asked) {
        if (is_refused) how += ", which its BMC refuses: " + progress.refusal;
        if (now - *progress.force_asked < kForceWorksWithin) return how;
        return how + "; after five minutes its BMC still says " +
               (system.power_text.empty() ? "nothing of its power" : system.power_text) +
               ": turn the host off by hand, and restart its BMC if it is off already";
    }
    if (is_refused) how = " is asked to shut down, which its BMC refuses: " + progress.refusal;
    const bool never_cuts = limits.mode == api::v1alpha1::PowerOffMode::GracefulOnly;
    if (!never_cuts || (!is_refused && !is_late)) return how;
    if (!is_refused)
        how = " was asked to shut down " + base::counted(progress.off_requests, "time") + " and is still on";
    return how +
           "; its power is not cut, because spec.redfish.powerOff.mode is GracefulOnly: turn it off, or "
           "change the mode";
}

}  // namespace providers::redfish
