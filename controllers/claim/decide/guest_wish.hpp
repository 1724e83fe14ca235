// Derives the guest's settings of a claim's machine from provider and pool. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bootstrap/network_config.hpp"
#include "controllers/claim/decide/observation.hpp"

namespace controllers::claim {

// Returns the provider's settings, or the defaults.
const api::v1alpha1::CloudInit& cloud_init_of(const Observation& observation);
// Returns the pool's network settings, otherwise the provider's.
api::v1alpha1::MachineNetwork network_of(const Observation& observation);
// Returns the interfaces that have a chosen MAC address or addresses reserved by the pool.
std::vector<bootstrap::KnownInterface> interfaces_of(const Observation& observation);
// WishedInterface describes an interface of a machine that needs a MAC address or configuration.
struct WishedInterface {
    std::string name;         // net0
    std::string mac_prefix;   // empty: any
    std::string mac_address;  // set by the user for all machines; empty: the operator chooses
};
// Returns the interfaces whose MAC address must be known before the start. It is empty if
// machines bring their own addresses.
std::vector<WishedInterface> wished_interfaces(const Observation& observation,
                                               api::v1alpha1::BootstrapMethod method);
// Returns why machines cannot get their network settings by that method; nullopt: they can.
std::optional<std::string> network_obstacle(const Observation& observation,
                                            api::v1alpha1::BootstrapMethod method);
// Reports whether a machine from a template gets its settings by Proxmox' own cloud-init.
bool configures_guest(const Observation& observation);

// Returns the lines that are not empty, without Windows line endings.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace controllers::claim
