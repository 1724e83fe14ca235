// Chooses host and VMID for a machine that has neither. Reserves nothing: the choice holds once it is
// recorded.
#pragma once

#include <map>
#include <set>
#include <string>

#include "providers/offering.hpp"
#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/cluster/refused_ids.hpp"
#include "providers/proxmox/cluster/volume_owners.hpp"
#include "providers/proxmox/placement/full_storages.hpp"
#include "providers/proxmox/placement/host_choice.hpp"
#include "providers/proxmox/placement/templates.hpp"

namespace providers::proxmox {

// How old lists of volumes may be where a machine is placed, and where it is only said what there is.
inline constexpr base::Duration kSizesAge = std::chrono::minutes{1};
inline constexpr base::Duration kOfferedSizesAge = std::chrono::minutes{10};

class HostChooser {
public:
    // All must outlive this.
    HostChooser(const Settings& settings, Client& client, ClusterView& view, Templates& templates,
                VolumeOwners& volumes, base::Clock& clock)
        : settings_(settings),
          client_(client),
          view_(view),
          templates_(templates),
          volumes_(volumes),
          clock_(clock),
          refused_ids_(clock),
          full_storages_(clock) {}

    // A machine in state placed, or InsufficientCapacity, also if all IDs are taken. Throws ProxmoxError.
    asio::awaitable<EnsureResult> place(MachineSpec spec);
    // Another ID on the same host, after the recorded one has turned out to be somebody else's.
    asio::awaitable<EnsureResult> place_under_another_id(MachineSpec spec, std::string why);
    // What each host can still take. Throws ProxmoxError.
    asio::awaitable<std::vector<HostOffering>> offerings();
    // A disk of the machine could not be made on that host for want of room: no other one is tried there for
    // a while. Never throws.
    asio::awaitable<void> note_full_storage(std::string host, std::string cause);
    // Storages for disks of machines that are about to be full, with what to do; empty: none is. Throws
    // ProxmoxError.
    asio::awaitable<std::string> storages_low();

private:
    asio::awaitable<EnsureResult> with_id(MachineSpec spec, ClusterView::StatePointer state,
                                          std::string message);
    // Which guests that are off start with their host; learned a few per call, so that it costs little.
    asio::awaitable<StartsOnBoot> starts_on_boot(ClusterView::StatePointer state);

    // A storage of one host that machines have disks on.
    struct DiskSite {
        StorageState storage;
        std::int64_t need = 0;  // MiB of each machine
        std::optional<StorageRoom> room;
    };
    // Returns those of the host. The lists of volumes may be as old as `max_age`, here and below.
    asio::awaitable<std::vector<DiskSite>> disk_sites(std::string host, ClusterView::StatePointer state,
                                                      std::vector<Reservation> reservations,
                                                      base::Duration max_age);
    // Why no disk of another machine can be made on the host; empty: one can, as far as is visible.
    asio::awaitable<std::string> storage_obstacle(std::string host, ClusterView::StatePointer state,
                                                  std::vector<Reservation> reservations,
                                                  base::Duration max_age);

    asio::awaitable<std::string> missing_bridge(std::string host);
    // What of its network keeps machines off the host; nothing, as far as is visible, if its text is empty.
    asio::awaitable<Obstacle> network_obstacle(std::string host);
    std::set<std::int64_t> taken_ids(const ClusterState& state) const;
    // An ID that no guest, reservation or volume has, as far as can be seen.
    struct FreeID {
        std::optional<std::int64_t> id;
        std::string obstacle;  // if there is none
    };
    asio::awaitable<FreeID> free_id(MachineSpec spec, ClusterView::StatePointer state);
    asio::awaitable<std::optional<std::int64_t>> first_unused(IDRange range, std::set<std::int64_t> taken,
                                                              std::string system_uuid);
    asio::awaitable<bool> is_unused(std::int64_t vmid);
    std::string hidden_text() const;
    // Why there is no ID for another machine on the host; nothing if there is one.
    asio::awaitable<Obstacle> id_obstacle(std::string host, ClusterView::StatePointer state);

    struct Bridges {
        std::set<std::string> names;
        base::TimePoint read_at;
    };
    struct BootFlag {
        bool starts = false;
        base::TimePoint read_at;
    };
    const Settings& settings_;
    Client& client_;
    ClusterView& view_;
    Templates& templates_;
    VolumeOwners& volumes_;
    base::Clock& clock_;
    RefusedIds refused_ids_;
    FullStorages full_storages_;
    std::map<std::int64_t, BootFlag> boot_flags_;
    std::map<std::string, Bridges> bridges_;  // by host
};

}  // namespace providers::proxmox
