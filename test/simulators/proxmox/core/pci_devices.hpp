// Devices of hosts, and the mappings that give them to machines.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "test/simulators/proxmox/core/router.hpp"

namespace proxmox_simulator {

// MappedDevice is one device of a mapping on one host, such as "node=pve1,path=0000:01:00.0,id=10de:1eb8".
struct MappedDevice {
    std::string node, path, id, subsystem;
};
MappedDevice parse_mapped_device(const std::string& text);

// Returns why the host's hardware differs from the mapping; empty if it does not.
std::string device_complaint(const Host& host, const MappedDevice& device);

// Requires Mapping.Use on the mapping of a hostpciN option that is set, removed or copied. Throws "only root
// can set 'hostpci0' config for non-mapped devices" for a raw address.
void require_device_right(const World& world, const std::string& user, const std::string& option,
                          const std::string& value);
bool is_passed_through(std::string_view option);
bool has_passed_through(const Config& config);

// Returns the devices that the machine takes when it starts, one for each of its options. Throws if a mapping
// or a device is missing, or if running machines have taken all of them.
std::set<std::string> devices_to_take(const Cluster& cluster, const Machine& machine, const Config& config);
// Returns the options whose mapping has no device on the host.
std::vector<std::string> unmapped_options(const World& world, const Config& config, const std::string& host);

}  // namespace proxmox_simulator
