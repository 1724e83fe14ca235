// Which VMID a machine gets. Proxmox reserves none, so losing a race is normal: then another is chosen. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "providers/proxmox/config/settings.hpp"

namespace providers::proxmox {

// A MachineRecord's machine_id is its VMID in digits; 0 where there is none yet.
std::int64_t vmid_of(const std::string& machine_id);

// "lower=100,upper=200" of the datacenter's option next-id, whose upper bound is exclusive. Empty parts mean
// Proxmox' own 100 and 1000000.
IDRange parse_next_id_range(std::string_view next_id);

// A VMID in the range that is not taken; nullopt: all are. The search begins at a place that depends on the
// machine if the range is ours alone, so that an ID is not used again at once, else at the lower end, as
// Proxmox does. 9999 is never chosen.
std::optional<std::int64_t> choose_id(const IDRange& range, const std::set<std::int64_t>& taken,
                                      const std::string& system_uuid, bool range_is_ours);

}  // namespace providers::proxmox
