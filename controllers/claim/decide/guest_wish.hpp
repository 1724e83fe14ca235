// What provider and pool say about the guest of a claim's machine. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bootstrap/network_config.hpp"
#include "controllers/claim/decide/observation.hpp"

namespace controllers::claim {

// The provider's, or the defaults.
const api::v1alpha1::CloudInit& cloud_init_of(const Observation& observation);
// The pool's, else the provider's.
api::v1alpha1::MachineNetwork network_of(const Observation& observation);
// The interfaces whose MAC address was chosen, or that the pool has reserved addresses for.
std::vector<bootstrap::KnownInterface> interfaces_of(const Observation& observation);
// An interface that a machine will have, or is told of.
struct WishedInterface {
    std::string name;         // net0
    std::string mac_prefix;   // empty: any
    std::string mac_address;  // that the user gave to all machines; empty: to be chosen
};
// Those whose MAC address has to be known before the start. Empty where machines bring their own.
std::vector<WishedInterface> wished_interfaces(const Observation& observation,
                                               api::v1alpha1::BootstrapMethod method);
// Why machines cannot be told of their network that way; nullopt: they can.
std::optional<std::string> network_obstacle(const Observation& observation,
                                            api::v1alpha1::BootstrapMethod method);
// True if a machine from a template gets its settings by Proxmox' own cloud-init.
bool configures_guest(const Observation& observation);

// The lines that are not empty, without what Windows ends lines with.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace controllers::claim
