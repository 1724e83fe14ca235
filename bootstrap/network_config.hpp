// Cloud-init's network configuration for one machine.
// https://cloudinit.readthedocs.io/en/latest/reference/network-config-format-v1.html
#pragma once

#include <string>
#include <vector>

#include "api/v1alpha1/proxmox.hpp"

namespace bootstrap {

// What is known of an interface before its machine starts.
struct KnownInterface {
    std::string name;                    // net0, as the hypervisor calls it
    std::string mac_address;             // empty: not known
    std::vector<std::string> addresses;  // reserved for it, without prefix length
    bool operator==(const KnownInterface&) const = default;
};

struct NetworkRequest {
    api::v1alpha1::MachineNetwork network;
    std::vector<KnownInterface> interfaces;
};

// Whether the network asks for anything but DHCP on the first interface.
bool asks_for_anything(const api::v1alpha1::MachineNetwork& network);

// One address of an interface with what goes with it.
struct Subnet {
    std::string address;  // with prefix length; empty: by DHCP
    std::string gateway;
    bool v6 = false;
};
// Throws std::invalid_argument if the interface lacks one of its addresses.
std::vector<Subnet> subnets_of(const api::v1alpha1::MachineNetwork& network,
                               const std::vector<KnownInterface>& interfaces);

// Version 1: what each release of cloud-init makes of it for netplan, networkd, ifupdown, sysconfig and
// NetworkManager agrees, while 22.4 loses IPv6 default routes of version 2. Version 2 for name servers beside
// DHCP, which are lost for netplan in version 1. Interfaces are matched by MAC address and called eth0 for
// net0 and so on; without a MAC address of network.interface it is the one whose name begins with "e", which
// netplan alone understands.
// Empty if nothing needs to be said: cloud-init then asks DHCP on the first interface.
// Throws std::invalid_argument that says what an interface lacks.
std::string network_config(const NetworkRequest& request);

// Where a network has interfaces beside its own, each of them as a network of its own, without nameservers.
std::vector<api::v1alpha1::MachineNetwork> by_interface(const api::v1alpha1::MachineNetwork& network);

bool is_ipv6(std::string_view address);

}  // namespace bootstrap
