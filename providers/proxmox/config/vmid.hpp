// Choice of a machine's VMID. Proxmox reserves no VMID, so losing a race is normal; then another ID is
// chosen. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "providers/proxmox/config/settings.hpp"

namespace providers::proxmox {

// Parses a MachineRecord's machine_id, which is the VMID in digits; 0 if it is empty.
std::int64_t vmid_of(const std::string& machine_id);

// Parses "lower=100,upper=200" from the datacenter's option next-id. Its upper bound is exclusive. Missing
// parts default to Proxmox' own 100 and 1000000.
IDRange parse_next_id_range(std::string_view next_id);

// Returns a free VMID in the range; nullopt: all are taken. If the range is ours alone, the search starts at
// a point derived from the machine. IDs are then not reused immediately. Otherwise it starts at the lower
// end, as in Proxmox. It never chooses 9999.
std::optional<std::int64_t> choose_id(const IDRange& range, const std::set<std::int64_t>& taken,
                                      const std::string& system_uuid, bool range_is_ours);

}  // namespace providers::proxmox
