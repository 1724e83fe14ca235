// A join as an Ignition configuration, for Flatcar and Fedora CoreOS. Their Ignition of the platform
// proxmoxve reads user-data that is JSON from a volume labelled cidata, where it leaves #cloud-config alone:
// internal/providers/proxmoxve in github.com/coreos/ignition. It fetches nothing over HTTP by itself.
// By Ignition's documents and sources; no machine has proven it.
#pragma once

#include <string>

#include "bootstrap/cloud_init.hpp"
#include "bootstrap/join.hpp"

namespace bootstrap {

// Files, and a unit that runs the commands once; host name and SSH keys (of the user `core` unless another is
// wanted). The user's own configuration, of a version 3.x, is merged before ours.
// https://coreos.github.io/ignition/configuration-v3_0/ (Flatcar takes up to 3.3.0 from release 3185 on).
// Holds what the plan holds. Throws OwnUserDataError if the user's own is none.
std::string ignition_config(const GuestSettings& settings, const JoinPlan& plan);

}  // namespace bootstrap
