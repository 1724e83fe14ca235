// Reads and renders a machine's configuration.
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
// Returns the machine's name, or "VM 105" if it has none.
std::string display_name(const Machine& machine);
// Returns the devices in the order in which the firmware tries them. It also understands the old letters
// ("cdn").
std::vector<std::string> boot_order(const Config& config);

Drive parse_drive(const std::string& option, const std::string& value);
// Returns the parsed drives by option, sorted by name.
std::map<std::string, Drive> drives(const Config& config);
bool is_cloudinit_volume(const std::string& volume);
// Returns the size in bytes of the disk from which the machine boots, as shown in "maxdisk".
std::uint64_t boot_disk_size(const Config& config);

// Returns the SHA-1 of the configuration file's text, which changes with every change.
std::string config_digest(const Config& config);
// Returns the configuration with the types of the API: numbers and booleans as numbers, secrets hidden.
json::object config_json(const Config& config);
json::value option_json(const std::string& option, const std::string& value);

// Moves the changes that waited for a cold start into the configuration.
void apply_pending(Machine& machine);
// Throws an error such as "VM is locked (clone)" if the configuration has a lock.
void require_unlocked(const Config& config);

// Returns the tags in lower case, sorted, without duplicates, joined with semicolons.
std::string normalise_tags(const std::string& tags);

}  // namespace proxmox_simulator
