#include "providers/proxmox/placement/storage_room.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/config/volumes.hpp"

namespace providers::proxmox {

namespace {

constexpr std::int64_t kMiBOfGiB = 1024;
constexpr std::int64_t kNearlyFullPercent = 90;
// No storage is larger. Sums of thousands of such sizes do not overflow.
constexpr std::int64_t kMostGiB = std::int64_t{1} << 30;

bool is_disk(const std::string& option, const std::string& drive) {
    const auto value = PropertyString::parse(drive);
    return is_drive(option) && value.find("media") != "cdrom" && !storage_of_drive(drive).empty();
}

// Returns the size in GiB of a new volume, e.g. 32 for "local-lvm:32"; 0: no new volume.
std::int64_t asked_gib(const std::string& drive) {
    const auto volume = PropertyString::parse(drive).find_or_default("file").value_or("");
    const auto colon = volume.find(':');
    if (colon == std::string::npos || !asks_for_new_volume(drive)) return 0;
    std::int64_t size = 0;
    std::from_chars(volume.data() + colon + 1, volume.data() + volume.size(), size);
    return size;
}

bool is_on(const StorageState& storage, const std::string& host) {
    return storage.is_shared || storage.node == host;
}

}  // namespace

DiskNeed disk_need(const Settings& settings, const VmConfig& source) {
    DiskNeed need;
    const auto& wish = settings.spec.template_;
    const auto add = [&need](const std::string& storage, std::int64_t gib) {
        need[storage] += std::clamp<std::int64_t>(gib, 0, kMostGiB) * kMiBOfGiB;
    };
    std::set<std::string> replaced;
    for (const auto& [option, value] : settings.vm_options) {
        if (!is_disk(option, value)) continue;
        replaced.insert(option);
        if (const auto gib = asked_gib(value); gib > 0) add(storage_of_drive(value), gib);
    }
    if (!wish) return need;
    for (const auto& [option, value] : source.options) {
        if (!is_disk(option, value) || replaced.contains(option)) continue;
        auto gib = disk_size_gib(source, option);
        if (option == wish->bootDisk.device) gib = std::max(gib, wish->bootDisk.sizeGiB.value_or(0));
        add(wish->storage.empty() ? storage_of_drive(value) : wish->storage, gib);
    }
    return need;
}

// Computes the room. Lists are read once a minute, so newer volumes are missing; recorded machines account
// for them. If the token may not see every volume, the used space counts, plus the possible growth of our
// machines.
std::optional<StorageRoom> storage_room(const Settings& settings, const ClusterState& state,
                                        const StorageUse& use,
                                        const std::vector<CapacityReservation>& reservations,
                                        std::int64_t need) {
    const auto& storage = *use.storage;
    if (storage.total_mib <= 0) return std::nullopt;
    const auto& placement = settings.spec.placement;
    std::set<std::int64_t> owners;
    std::int64_t promised = 0;
    if (use.volumes) {
        for (const auto& [vmid, size] : *use.volumes) {
            promised += size;
            owners.insert(vmid);
        }
        promised = std::max(promised, storage.used_mib);
    } else {
        promised = storage.used_mib;
        const auto tag = parse_tags(settings.managed_tag());
        for (const auto& guest : state.guests) {
            const bool is_ours = std::ranges::includes(guest.tags, tag) && !guest.is_template;
            if (!is_ours || !is_on(storage, guest.node) || !owners.insert(guest.vmid).second) continue;
            promised += need;
        }
    }
    for (const auto& reservation : reservations) {
        const bool is_new = owners.insert(vmid_of(reservation.machine_id)).second;
        if (is_new && is_on(storage, reservation.host)) promised += need;
    }
    const auto reserved = storage.total_mib / 100 * placement.storageReservedPercent;
    const auto may_be_promised = storage.total_mib / 100 * placement.storageAllocationPercent;
    StorageRoom room;
    room.free_mib = std::min(may_be_promised - promised, storage.total_mib - storage.used_mib) - reserved;
    room.is_nearly_full =
        room.free_mib < 2 * need || storage.used_mib >= storage.total_mib / 100 * kNearlyFullPercent;
    return room;
}

}  // namespace providers::proxmox
