// Chooses host and VMID for a machine that has neither. It reserves nothing: a choice is valid once it is
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

// Limits for the age of volume lists, for placing a machine and for reporting offerings.
inline constexpr base::Duration kSizesAge = std::chrono::minutes{1};
inline constexpr base::Duration kOfferedSizesAge = std::chrono::minutes{10};

class HostChooser {
public:
    // All arguments must outlive this.
    HostChooser(const Settings& settings, ProxmoxClient& client, ClusterView& view, Templates& templates,
                VolumeOwners& volumes, base::Clock& clock)
        : settings_(settings),
          client_(client),
          view_(view),
          templates_(templates),
          volumes_(volumes),
          clock_(clock),
          refused_ids_(clock),
          full_storages_(clock) {}

    // Returns a machine in state placed, or InsufficientCapacity, also if all IDs are taken. Throws
    // ProxmoxError.
    asio::awaitable<EnsureResult> place(MachineSpec spec);
    // Chooses another ID on the same host, because somebody else has the recorded one.
    asio::awaitable<EnsureResult> place_under_another_id(MachineSpec spec, std::string why);
    // Returns the free capacity of each host. Throws ProxmoxError.
    asio::awaitable<std::vector<HostOffering>> offerings();
    // Notes that a disk did not fit on a storage of that host, so that it is avoided for a while. Never
    // throws.
    asio::awaitable<void> note_full_storage(std::string host, std::string cause);
    // Returns storages for machine disks that are nearly full, and what to do; empty: none. Throws
    // ProxmoxError.
    asio::awaitable<std::string> storages_low();

private:
    // Returns which VM has the name; empty: none.
    asio::awaitable<std::string> holder_of_name(std::string name);
    asio::awaitable<EnsureResult> with_id(MachineSpec spec, ClusterView::StatePointer state,
                                          std::string message);
    // Returns the guests that are off but start with their host. Each call reads only a few, to limit its
    // cost.
    asio::awaitable<StartsOnBoot> starts_on_boot(ClusterView::StatePointer state);

    // DiskSite is a storage of one host with disks of machines.
    struct DiskSite {
        StorageState storage;
        std::int64_t need = 0;  // MiB per machine
        std::optional<StorageRoom> room;
    };
    // Returns the disk sites of the host. Volume lists may be as old as `max_age`, here and below.
    asio::awaitable<std::vector<DiskSite>> disk_sites(std::string host, ClusterView::StatePointer state,
                                                      std::vector<CapacityReservation> reservations,
                                                      base::Duration max_age);
    // Returns why no disk of another machine fits on the host; empty: one fits, as far as visible.
    asio::awaitable<std::string> storage_obstacle(std::string host, ClusterView::StatePointer state,
                                                  std::vector<CapacityReservation> reservations,
                                                  base::Duration max_age);

    asio::awaitable<std::string> missing_bridge(std::string host);
    // Returns the network obstacle of the host. Its text is empty if none is visible.
    asio::awaitable<Obstacle> network_obstacle(std::string host);
    std::set<std::int64_t> taken_ids(const ClusterState& state) const;
    // FreeID is an ID without a visible guest, reservation or volume.
    struct FreeID {
        std::optional<std::int64_t> id;
        std::string obstacle;  // set if no ID is free
    };
    asio::awaitable<FreeID> free_id(MachineSpec spec, ClusterView::StatePointer state);
    asio::awaitable<std::optional<std::int64_t>> first_unused(IDRange range, std::set<std::int64_t> taken,
                                                              std::string system_uuid);
    asio::awaitable<bool> is_unused(std::int64_t vmid);
    std::string hidden_text() const;
    // Returns why the host has no free ID; the text is empty if it has one.
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
    ProxmoxClient& client_;
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
