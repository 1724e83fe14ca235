// Builds a join as an Ignition configuration, for Flatcar and Fedora CoreOS. Ignition's platform proxmoxve
// reads JSON user-data from a volume labelled cidata, and ignores #cloud-config there:
// internal/providers/proxmoxve in github.com/coreos/ignition. It fetches nothing over HTTP by itself. This
// follows Ignition's documents and sources; it was never tested on a machine.
#pragma once

#include <string>

#include "bootstrap/cloud_init.hpp"
#include "bootstrap/join.hpp"

namespace bootstrap {

// Returns files, a unit that runs the commands once, host name and SSH keys. The keys are for the user `core`
// unless another one is requested. The user's own configuration, with a version 3.x, is merged before ours.
// https://coreos.github.io/ignition/configuration-v3_0/ (Flatcar accepts up to 3.3.0 from release 3185 on).
// It contains the plan's secrets. Throws OwnUserDataError if the user's own is invalid.
std::string ignition_config(const UserDataSettings& settings, const JoinPlan& plan);

}  // namespace bootstrap
