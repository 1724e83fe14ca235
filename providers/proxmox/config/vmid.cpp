#include "providers/proxmox/config/vmid.hpp"

#include <algorithm>
#include <cstdlib>

#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

constexpr std::int64_t kFirstVmid = 100;
constexpr std::int64_t kLastVmid = 999'999'999;

// Returns the nearest bound that Proxmox allows, whatever an endpoint reports.
std::int64_t vmid_bound(const std::string& text) {
    return std::clamp<std::int64_t>(std::strtoll(text.c_str(), nullptr, 10), kFirstVmid, kLastVmid + 1);
}

// FNV-1a, used only to spread IDs. http://www.isthe.com/chongo/tech/comp/fnv/
std::uint64_t digest(std::string_view text) {
    std::uint64_t value = 14695981039346656037ull;
    for (const auto c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    return value;
}

}  // namespace

std::int64_t vmid_of(const std::string& machine_id) {
    return std::strtoll(machine_id.c_str(), nullptr, 10);
}

IDRange parse_next_id_range(std::string_view next_id) {
    IDRange range;
    const auto properties = PropertyString::parse(next_id);
    if (const auto lower = properties.find("lower")) range.lower = vmid_bound(*lower);
    if (const auto upper = properties.find("upper")) range.upper = vmid_bound(*upper) - 1;
    return range;
}

std::optional<std::int64_t> choose_id(const IDRange& range, const std::set<std::int64_t>& taken,
                                      const std::string& system_uuid, bool range_is_ours) {
    const auto size = range.upper - range.lower + 1;
    if (size <= 0) return std::nullopt;
    const auto start =
        range_is_ours ? static_cast<std::int64_t>(digest(system_uuid) % static_cast<std::uint64_t>(size)) : 0;
    // With one more try than there are excluded IDs, a free ID is found.
    const auto tries = std::min<std::int64_t>(size, static_cast<std::int64_t>(taken.size()) + 2);
    for (std::int64_t i = 0; i < tries; ++i) {
        const auto id = range.lower + (start + i) % size;
        if (id != kCsiOwner && !taken.contains(id)) return id;
    }
    return std::nullopt;
}

}  // namespace providers::proxmox
