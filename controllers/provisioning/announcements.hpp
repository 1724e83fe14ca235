// Reports what provisioning could not do, and when time alone may change that.
#pragma once

#include <cstddef>
#include <optional>

#include "controllers/cache/announcer.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/provisioning/decision.hpp"

namespace controllers::provisioning {

// Says for which pods and DaemonSets no machine is created, and why. Pods whose volumes may bind by
// themselves are left out for half a minute. Returns the number of such pods, with those.
std::size_t say_what_is_missing(const ProvisioningDecision& decision, const Informers& informers,
                                Announcer& announcer, api::Time now);

// Says which limits made the launch smaller than the demand.
void say_cuts(const World& world, const scheduling::SolveResult& result, const Informers& informers,
              Announcer& announcer);

// Returns when another look is worthwhile without any change; nullopt: never.
std::optional<api::Time> next_look(const ProvisioningDecision& decision, const Informers& informers,
                                   api::Time now);

}  // namespace controllers::provisioning
