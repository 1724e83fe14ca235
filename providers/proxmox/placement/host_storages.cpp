// The part of HostChooser that checks the storages of hosts.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/placement/host_chooser.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kSightAge = std::chrono::minutes{5};
constexpr base::Duration kLowAge = std::chrono::seconds{30};
constexpr base::Duration kFullAge = std::chrono::seconds{10};

std::string gib_text(std::int64_t mib) {
    constexpr std::int64_t kOneGiB = 1024;
    return std::to_string((mib + kOneGiB - 1) / kOneGiB) + " GiB";
}

}  // namespace

// Returns the host's storages for disks. storage_room() describes how volumes count that the token may not
// list.
asio::awaitable<std::vector<HostChooser::DiskSite>> HostChooser::disk_sites(
    std::string host, ClusterView::StatePointer state, std::vector<Reservation> reservations,
    base::Duration max_age) {
    std::vector<DiskSite> sites;
    const auto need = co_await templates_.disk_need_on(host, state);
    for (const auto& [name, mib] : need) {
        const auto* storage = state->find_storage(name, host);
        if (!storage || !storage->is_available) continue;
        const auto permissions = co_await view_.permissions(kSightAge);
        StorageUse use{storage, std::nullopt};
        if (sees_all_volumes(permissions, name)) {
            co_await volumes_.refresh(*storage, max_age);
            use.volumes = volumes_.sizes(*storage);
        }
        sites.push_back({*storage, mib, storage_room(settings_, *state, use, reservations, mib)});
    }
    co_return sites;
}

// Returns a text without figures, as they would change with every machine.
asio::awaitable<std::string> HostChooser::storage_obstacle(std::string host, ClusterView::StatePointer state,
                                                           std::vector<Reservation> reservations,
                                                           base::Duration max_age) {
    const auto sites = co_await disk_sites(std::move(host), state, std::move(reservations), max_age);
    for (const auto& [storage, need, room] : sites) {
        const auto cause = full_storages_.cause(storage);
        if (!cause.empty())
            co_return storage.str() + " was full when a machine was created (" + cause +
                "); it is tried again after a pause, or once room is freed there";
        if (room && room->free_mib < need)
            co_return storage.str() + " has no unreserved room for another " + gib_text(need) +
                ": free room or enlarge it, or raise placement.storageAllocationPercent";
    }
    co_return std::string();
}

asio::awaitable<void> HostChooser::note_full_storage(std::string host, std::string cause) {
    try {
        const auto state = co_await view_.state(kFullAge);
        const auto need = co_await templates_.disk_need_on(host, state);
        for (const auto& [name, mib] : need) {
            const auto* storage = state->find_storage(name, host);
            // The answer may name the full storage among several.
            const bool is_meant = need.size() == 1 || cause.find(name) != std::string::npos;
            if (storage && is_meant) full_storages_.note(*storage, foreign::shown(cause));
        }
    } catch (const ProviderError&) {
        co_return;  // the next machine finds it full again
    }
}

asio::awaitable<std::string> HostChooser::storages_low() {
    const auto state = co_await view_.state(kLowAge);
    std::set<std::string> low;
    const std::vector<Reservation> none_placed;
    for (const auto& host : state->hosts) {
        if (!host.is_online || !may_be_used(settings_, host.name)) continue;
        const auto sites = co_await disk_sites(host.name, state, none_placed, kOfferedSizesAge);
        for (const auto& [storage, need, room] : sites) {
            const bool is_low = (room && room->is_nearly_full) || !full_storages_.cause(storage).empty();
            if (is_low) low.insert(storage.str());
        }
    }
    if (low.empty()) co_return std::string();
    co_return base::joined(low) + (low.size() == 1 ? " has" : " have") +
        " little room left: less than two more machines need, or more than 90 % is used. A storage that runs "
        "full stops the guests on it: free room, enlarge it, or add another";
}

}  // namespace providers::proxmox
