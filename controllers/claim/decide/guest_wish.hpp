// What provider and pool say about the guest of a claim's machine. Pure.
#pragma once

#include <string>
#include <vector>

#include "controllers/claim/decide/observation.hpp"

namespace controllers::claim {

// The provider's, or the defaults.
const api::v1alpha1::CloudInit& cloud_init_of(const Observation& observation);
// The pool's, else the provider's.
api::v1alpha1::MachineNetwork network_of(const Observation& observation);
// The static address that the pool has reserved for the claim; empty: none.
std::string address_of(const Observation& observation);
// True if a machine from a template gets its settings by Proxmox' own cloud-init.
bool configures_guest(const Observation& observation);

// The lines that are not empty.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace controllers::claim
