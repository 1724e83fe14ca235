#include "providers/proxmox/cluster/volume_owners.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

std::vector<StorageState> disk_storages(const std::string& host, const ClusterState& state) {
    std::vector<StorageState> storages;
    for (const auto& storage : state.storages)
        if (storage.node == host && storage.takes_disks) storages.push_back(storage);
    return storages;
}

constexpr int kMostNamed = 3;
constexpr std::int64_t kMostMiB = std::int64_t{1} << 40;  // limit that keeps sums from overflowing

}  // namespace

std::string all_taken_text(const IDRange& range, const std::map<std::int64_t, std::string>& volumes) {
    auto text =
        "all VMIDs from " + std::to_string(range.lower) + " to " + std::to_string(range.upper) + " are taken";
    std::string named;
    int count = 0;
    for (const auto& [vmid, volume] : volumes) {
        if (vmid < range.lower || vmid > range.upper || vmid == kCsiOwner || ++count > kMostNamed) continue;
        named += (named.empty() ? "" : ", ") + std::to_string(vmid) + ": " + volume;
    }
    if (count > kMostNamed) named += " and " + std::to_string(count - kMostNamed) + " more";
    if (count > 0) text += ", some by volumes that no guest has (" + named + ")";
    if (range.lower <= kCsiOwner && kCsiOwner <= range.upper)
        text += ", and 9999 is never used, as the Proxmox CSI plugin gives its volumes that VMID";
    return text;
}

asio::awaitable<VolumeOwners::Volumes> VolumeOwners::on(std::string host, ClusterView::StatePointer state,
                                                        base::Duration max_age) {
    for (const auto& storage : disk_storages(host, *state)) co_await refresh(storage, max_age);
    co_return known(host, *state);
}

asio::awaitable<void> VolumeOwners::refresh(StorageState storage, base::Duration max_age) {
    auto key = storage.key();
    const auto known = lists_.find(key);
    const bool is_fresh = known != lists_.end() && clock_.now() - known->second.read_at < max_age;
    if (is_fresh || !storage.is_available || pauses_.lasts(key)) co_return;
    co_await read(std::move(key), std::move(storage));
}

std::optional<VolumeSizes> VolumeOwners::sizes(const StorageState& storage) const {
    const auto list = lists_.find(storage.key());
    return list == lists_.end() ? std::nullopt : std::optional(list->second.sizes);
}

asio::awaitable<void> VolumeOwners::read(std::string key, StorageState storage) {
    List list;
    list.read_at = clock_.now();
    try {
        const auto disks = co_await client_.read(get_disks(storage.node, storage.name));
        for (const auto* disk : objects_of(disks)) {
            const auto volume = text_of(*disk, "volid");
            const auto owner = owner_of_volume(volume);
            if (owner) list.volumes.try_emplace(*owner, foreign::shown(volume));
            auto& size = list.sizes[owner.value_or(0)];
            size = std::min(size + mib_of(*disk, "size"), kMostMiB);
        }
        pauses_.end(key);
        lists_[key] = std::move(list);
    } catch (const ProxmoxError& error) {
        base::log::debug("Cannot read which VMIDs have volumes", {{"storage", key}, {"error", error.what()}});
        pauses_.begin(key);
    }
}

VolumeOwners::Volumes VolumeOwners::known(const std::string& host, const ClusterState& state) const {
    Volumes volumes;
    for (const auto& storage : disk_storages(host, state)) {
        const auto list = lists_.find(storage.key());
        if (list != lists_.end()) volumes.insert(list->second.volumes.begin(), list->second.volumes.end());
    }
    std::erase_if(volumes, [&](const auto& entry) { return state.find_guest(entry.first) != nullptr; });
    return volumes;
}

}  // namespace providers::proxmox
