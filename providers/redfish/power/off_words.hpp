// Tells people how a host is being turned off. Pure.
#pragma once

#include <string>

#include "providers/redfish/hosts/settings.hpp"
#include "providers/redfish/power/power_step.hpp"

namespace providers::redfish {

// Why its power is cut, after "is switched off hard: ".
std::string why_by_force(const System& system, const Progress& progress, const Settings& settings);
// After "host NAME".
std::string how_it_goes(const Progress& progress, const PowerLimits& limits, base::TimePoint now);

}  // namespace providers::redfish
