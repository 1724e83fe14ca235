// Describes for people how a host is turned off. Pure.
#pragma once

#include <string>

#include "providers/redfish/hosts/settings.hpp"
#include "providers/redfish/power/power_step.hpp"

namespace providers::redfish {

// Returns why its power is cut, as text after "is switched off hard: ".
std::string why_by_force(const System& system, const Progress& progress, const RedfishSettings& settings);
// Returns the progress, as text after "host NAME".
std::string how_it_goes(const System& system, const Progress& progress, const PowerLimits& limits,
                        base::TimePoint now);

}  // namespace providers::redfish
