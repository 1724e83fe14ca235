// Reading and rendering a machine's configuration.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <vector>

#include "test/simulators/proxmox/core/property_string.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

namespace json = boost::json;

struct Drive {
    std::string volume;  // volume ID, "none" or "cdrom"
    bool is_cdrom = false;
    Properties properties;
};

bool config_flag(const Config& config, std::string_view option);
std::string config_text(const Config& config, std::string_view option);
std::int64_t config_number(const Config& config, std::string_view option, std::int64_t otherwise);
std::uint64_t memory_mib(const Config& config);
int vcpus(const Config& config);
bool has_agent(const Config& config);
// The name, or "VM 105".
std::string display_name(const Machine& machine);
// Devices in the order the firmware tries them, also from the old letters ("cdn").
std::vector<std::string> boot_order(const Config& config);

Drive parse_drive(const std::string& option, const std::string& value);
// Drive option to parsed value, in name order.
std::map<std::string, Drive> drives(const Config& config);
bool is_cloudinit_volume(const std::string& volume);
// Size in bytes of the disk the machine boots from, as shown in "maxdisk".
std::uint64_t boot_disk_size(const Config& config);

// SHA-1 over the configuration file's text: changes when anything changes.
std::string config_digest(const Config& config);
// With the types that the API uses: numbers and booleans as numbers, secrets hidden.
json::object config_json(const Config& config);
json::value option_json(const std::string& option, const std::string& value);

// Moves what waited for a cold start into the configuration.
void apply_pending(Machine& machine);
// Throws "VM is locked (clone)" unless the configuration carries no lock.
void require_unlocked(const Config& config);

// Lower case, sorted, without duplicates, joined with semicolons.
std::string normalise_tags(const std::string& tags);

}  // namespace proxmox_simulator
