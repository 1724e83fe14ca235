// Builds cloud-init's network configuration for one machine.
// https://cloudinit.readthedocs.io/en/latest/reference/network-config-format-v1.html
#pragma once

#include <string>
#include <vector>

#include "api/v1alpha1/proxmox.hpp"

namespace bootstrap {

// KnownInterface holds what is known about an interface before its machine starts.
struct KnownInterface {
    std::string name;                    // net0, the hypervisor's name
    std::string mac_address;             // empty: unknown
    std::vector<std::string> addresses;  // reserved for it, without prefix length
    bool operator==(const KnownInterface&) const = default;
};

struct NetworkRequest {
    api::v1alpha1::MachineNetwork network;
    std::vector<KnownInterface> interfaces;
};

// Reports whether the network requests anything except DHCP on the first interface.
bool asks_for_anything(const api::v1alpha1::MachineNetwork& network);

// Subnet is one address of an interface with its settings.
struct Subnet {
    std::string address;  // with prefix length; empty: by DHCP
    std::string gateway;
    bool v6 = false;
};
// Throws std::invalid_argument if the interface lacks one of its addresses.
std::vector<Subnet> subnets_of(const api::v1alpha1::MachineNetwork& network,
                               const std::vector<KnownInterface>& interfaces);

// Returns the configuration in version 1. All releases of cloud-init convert it consistently for netplan,
// networkd, ifupdown, sysconfig and NetworkManager. Version 2 is worse, because 22.4 loses its IPv6 default
// routes. It serves only for name servers with DHCP, which netplan loses in version 1. Interfaces are matched
// by MAC address and renamed: net0 becomes eth0 and so on. Without a MAC address, network.interface is the
// one whose name begins with "e". netplan alone understands that.
// Returns an empty text if nothing must be configured: cloud-init then uses DHCP on the first interface.
// Throws std::invalid_argument that names what an interface lacks.
std::string network_config(const NetworkRequest& request);

// Returns each interface of a network as a separate network. Additional interfaces have no nameservers.
std::vector<api::v1alpha1::MachineNetwork> by_interface(const api::v1alpha1::MachineNetwork& network);

bool is_ipv6(std::string_view address);

}  // namespace bootstrap
