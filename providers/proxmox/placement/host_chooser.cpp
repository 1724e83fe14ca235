#include "providers/proxmox/placement/host_chooser.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/config/vm_config.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

// Machines placed at the same time share one state; their reservations have what they take.
constexpr base::Duration kPlacementAge = std::chrono::seconds{5};
constexpr base::Duration kOfferingsAge = std::chrono::seconds{10};
constexpr base::Duration kBridgesAge = std::chrono::minutes{10};
constexpr base::Duration kMissingBridgeAge = std::chrono::seconds{30};  // somebody may be creating it
constexpr base::Duration kBootFlagAge = std::chrono::minutes{15};
constexpr int kBootFlagsPerCall = 4;

// Before an ID is chosen, older lists of volumes are read again. A list that leaves no ID is read again much
// sooner.
constexpr std::array<base::Duration, 2> kVolumesAges = {std::chrono::minutes{1}, std::chrono::seconds{10}};

bool is_within(std::int64_t vmid, const IDRange& range) {
    return range.lower <= vmid && vmid <= range.upper;
}

std::set<std::int64_t> with_volumes(std::set<std::int64_t> taken, const VolumeOwners::Volumes& volumes) {
    for (const auto& [vmid, volume] : volumes) taken.insert(vmid);
    return taken;
}

const char* widen_range(const Settings& settings) {
    return settings.ids ? "widen spec.proxmox.vmIDRange"
                        : "widen the datacenter's option next-id, or set spec.proxmox.vmIDRange";
}

// Returns the first configured bridge that is not among the names; empty: all are.
std::string first_missing(const Settings& settings, const std::set<std::string>& names) {
    for (const auto& interface : settings.spec.networkInterfaces) {
        // SDN networks have other names and are not in every list. Without any bridge, none is visible.
        const bool is_plain = interface.bridge.starts_with("vmbr");
        if (is_plain && !names.empty() && !names.contains(interface.bridge)) return interface.bridge;
    }
    return {};
}

// Returns a VM with that name; null: none. A VM on a host that is down cannot join as a Node.
const Guest* vm_named(const std::string& name, const ClusterState& state) {
    const auto found = std::ranges::find_if(state.guests, [&](const Guest& guest) {
        const auto* host = state.find_host(guest.node);
        return guest.name == name && !guest.is_container && host && host->is_online;
    });
    return found == state.guests.end() ? nullptr : &*found;
}

}  // namespace

// Two VMs of one name would share one Node, and the kubelets of both would run its pods. A restored etcd may
// give the name of an existing machine again.
asio::awaitable<std::string> HostChooser::holder_of_name(std::string name) {
    auto state = co_await view_.state(kPlacementAge);
    if (!vm_named(name, *state)) co_return std::string();
    state = co_await view_.state(base::Duration::zero());
    const auto* vm = vm_named(name, *state);
    if (!vm) co_return std::string();
    co_return "VM " + std::to_string(vm->vmid) + " on " + vm->node + " has the name " + name +
        " already, and both would be the same Node: remove or rename that VM";
}

asio::awaitable<EnsureResult> HostChooser::place(MachineSpec spec) {
    auto taken = co_await holder_of_name(spec.name);
    if (!taken.empty()) co_return NameTaken{std::move(taken)};
    const auto state = co_await view_.state(kPlacementAge);
    const auto boot = co_await starts_on_boot(state);
    auto obstacles = co_await templates_.obstacles(state);
    PlacementRequest demand;
    demand.cpus = spec.cpu_cores;
    demand.memory_mib = spec.memory_mib + settings_.spec.vmMemOverheadMiB;
    demand.zone = settings_.has_zones() ? spec.zone : std::string();
    demand.avoid_hosts = spec.avoid_hosts;
    demand.recent_failures = spec.recent_failures;
    demand.last_placed_host = spec.last_placed_host;
    spec.record = MachineRecord();
    while (spec.record.host.empty()) {
        const auto all = rooms(settings_, *state, boot, spec.reservations, obstacles);
        auto chosen = choose_host(settings_, all, demand);
        if (auto* none = std::get_if<InsufficientCapacity>(&chosen)) co_return std::move(*none);
        const auto host = std::get<std::string>(chosen);
        auto obstacle = co_await network_obstacle(host);
        if (obstacle.text.empty())
            obstacle.text = co_await storage_obstacle(host, state, spec.reservations, kSizesAge);
        if (obstacle.text.empty()) {
            spec.record.host = host;
        } else {
            obstacles[host] = std::move(obstacle);
        }
    }
    co_return co_await with_id(std::move(spec), state, "");
}

// Checks the host's network. A host that does not answer must not block the others.
asio::awaitable<Obstacle> HostChooser::network_obstacle(std::string host) {
    Obstacle obstacle;
    try {
        const auto bridge = co_await missing_bridge(host);
        if (!bridge.empty()) {
            obstacle.text = "has no bridge " + bridge;
            obstacle.remedy = "create it there, or name another in spec.proxmox.networkInterfaces";
        }
    } catch (const ProxmoxError& error) {
        if (!is_passing(error.kind)) throw;
        obstacle.text = std::string("its network could not be read: ") + error.what();
    }
    co_return obstacle;
}

// Returns the first configured bridge that the host lacks. Empty: it has all, as far as visible.
asio::awaitable<std::string> HostChooser::missing_bridge(std::string host) {
    auto known = bridges_.find(host);
    const auto is_old = [&](const Bridges& bridges) {
        const bool lacks_one = !first_missing(settings_, bridges.names).empty();
        return clock_.now() - bridges.read_at > (lacks_one ? kMissingBridgeAge : kBridgesAge);
    };
    if (known == bridges_.end() || is_old(known->second)) {
        Bridges bridges;
        bridges.read_at = clock_.now();
        const auto data = co_await client_.read(get_bridges(host));
        for (const auto* entry : objects_of(data)) bridges.names.insert(text_of(*entry, "iface"));
        known = bridges_.insert_or_assign(host, std::move(bridges)).first;
    }
    co_return first_missing(settings_, known->second.names);
}

asio::awaitable<EnsureResult> HostChooser::place_under_another_id(MachineSpec spec, std::string why) {
    refused_ids_.refuse(vmid_of(spec.record.machine_id));
    const auto state = co_await view_.state(base::Duration::zero());
    auto message = "VMID " + spec.record.machine_id + " is taken: " + why;
    co_return co_await with_id(std::move(spec), state, std::move(message));
}

asio::awaitable<EnsureResult> HostChooser::with_id(MachineSpec spec, ClusterView::StatePointer state,
                                                   std::string message) {
    const auto cluster = co_await view_.name();
    const auto revision = co_await templates_.revision_for(spec.record.host, state);
    auto [id, obstacle] = co_await free_id(spec, state);
    if (!id) co_return InsufficientCapacity{std::move(obstacle)};
    Machine machine;
    machine.state = MachineState::placed;
    machine.identity = spec.identity;
    machine.name = spec.name;
    machine.record.host = spec.record.host;
    machine.record.machine_id = std::to_string(*id);
    machine.provider_id = settings_.provider_id(cluster, machine.record.machine_id);
    if (settings_.has_zones()) machine.zone = machine.record.host;
    machine.cpu_cores = spec.cpu_cores;
    machine.memory_mib = spec.memory_mib;
    machine.template_revision = revision;
    machine.message = std::move(message);
    co_return machine;
}

std::set<std::int64_t> HostChooser::taken_ids(const ClusterState& state) const {
    auto taken = refused_ids_.now();
    for (const auto& guest : state.guests) taken.insert(guest.vmid);
    for (const auto& guest : state.odd_guests) taken.insert(guest.vmid);
    return taken;
}

asio::awaitable<HostChooser::FreeID> HostChooser::free_id(MachineSpec spec, ClusterView::StatePointer state) {
    const auto range = co_await view_.id_range();
    auto taken = taken_ids(*state);
    for (const auto& reservation : spec.reservations) taken.insert(vmid_of(reservation.machine_id));
    for (const auto& id : spec.taken_ids) taken.insert(vmid_of(id));
    FreeID free;
    for (const auto max_age : kVolumesAges) {
        const auto volumes = co_await volumes_.on(spec.record.host, state, max_age);
        const auto all = with_volumes(taken, volumes);
        free.id = co_await first_unused(range, all, spec.identity.system_uuid);
        if (free.id) break;
        free.obstacle = all_taken_text(range, volumes) + hidden_text() + "; " + widen_range(settings_);
    }
    co_return free;
}

// Returns the first ID that is really unused. The list of guests omits invisible ones, the cluster's own list
// of IDs does not.
asio::awaitable<std::optional<std::int64_t>> HostChooser::first_unused(IDRange range,
                                                                       std::set<std::int64_t> taken,
                                                                       std::string system_uuid) {
    // If strangers have many IDs, the next call continues.
    constexpr int kMostAskedFor = 20;
    for (int asked = 0; asked < kMostAskedFor; ++asked) {
        const auto id = choose_id(range, taken, system_uuid, settings_.ids.has_value());
        if (!id) co_return std::nullopt;
        const bool is_free = co_await is_unused(*id);
        if (is_free) co_return id;
        refused_ids_.refuse(*id);
        taken.insert(*id);
    }
    co_return std::nullopt;
}

asio::awaitable<bool> HostChooser::is_unused(std::int64_t vmid) {
    try {
        co_await client_.read(probe_free_id(vmid));
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::exists) throw;
        co_return false;
    }
    co_return true;
}

std::string HostChooser::hidden_text() const {
    constexpr std::size_t kMostHiddenNamed = 5;
    std::vector<std::string> hidden;
    for (const auto id : refused_ids_.now()) hidden.push_back(std::to_string(id));
    if (hidden.empty()) return {};
    return "; taken by what the token may not see: " + base::joined_first(hidden, kMostHiddenNamed);
}

// Returns an obstacle if all IDs are taken. A range full of our own machines is not a mistake.
asio::awaitable<Obstacle> HostChooser::id_obstacle(std::string host, ClusterView::StatePointer state) {
    const auto range = co_await view_.id_range();
    const auto taken = taken_ids(*state);
    const auto has_free = [&](const std::set<std::int64_t>& others) {
        return choose_id(range, others, "", settings_.ids.has_value()).has_value();
    };
    const bool is_left_by_guests = has_free(taken);
    auto volumes = volumes_.known(host, *state);
    // While no machine can be placed, only this code reads the list again.
    if (is_left_by_guests && !has_free(with_volumes(taken, volumes)))
        volumes = co_await volumes_.on(host, state, kVolumesAges.front());
    if (has_free(with_volumes(taken, volumes))) co_return Obstacle();
    const auto tag = parse_tags(settings_.managed_tag());
    const bool is_all_ours = std::ranges::all_of(state->guests, [&](const Guest& guest) {
        return !is_within(guest.vmid, range) || std::ranges::includes(guest.tags, tag);
    });
    auto text = all_taken_text(range, volumes);
    const bool is_just_full = is_all_ours && !is_left_by_guests && !is_within(kCsiOwner, range);
    text += hidden_text();
    if (is_just_full) co_return Obstacle{text + "; " + widen_range(settings_), ""};
    co_return Obstacle{std::move(text), widen_range(settings_)};
}

asio::awaitable<StartsOnBoot> HostChooser::starts_on_boot(ClusterView::StatePointer state) {
    std::erase_if(boot_flags_, [&](const auto& entry) {
        return !state->find_guest(entry.first) || clock_.now() - entry.second.read_at > kBootFlagAge;
    });
    int reads = 0;
    for (const auto& guest : state->guests) {
        const auto* host = state->find_host(guest.node);
        const bool counts_anyway = guest.is_running || guest.is_template || guest.is_container;
        if (counts_anyway || !host || !host->is_online || boot_flags_.contains(guest.vmid)) continue;
        if (++reads > kBootFlagsPerCall) break;
        BootFlag flag;
        flag.read_at = clock_.now();
        try {
            const auto data = co_await client_.read(get_vm_config(guest.node, guest.vmid));
            flag.starts = parse_vm_config(data).starts_on_boot();
        } catch (const ProxmoxError& error) {
            const bool concerns_one = error.kind == ErrorKind::not_found ||
                                      error.kind == ErrorKind::permission || is_passing(error.kind);
            if (!concerns_one) throw;
        }
        boot_flags_[guest.vmid] = flag;
    }
    StartsOnBoot result;
    for (const auto& [vmid, flag] : boot_flags_) {
        if (flag.starts) result.insert(vmid);
    }
    co_return result;
}

asio::awaitable<std::vector<HostOffering>> HostChooser::offerings() {
    const auto state = co_await view_.state(kOfferingsAge);
    StartsOnBoot boot;
    for (const auto& [vmid, flag] : boot_flags_) {
        if (flag.starts) boot.insert(vmid);
    }
    std::vector<HostOffering> result;
    const std::vector<CapacityReservation> none_placed;
    const auto obstacles = co_await templates_.obstacles(state);
    for (const auto& room : rooms(settings_, *state, boot, {}, obstacles)) {
        HostOffering offering;
        offering.name = room.host->name;
        if (settings_.has_zones()) offering.zone = room.host->name;
        Obstacle obstacle{room.why_not, room.remedy};
        if (obstacle.text.empty()) obstacle = co_await id_obstacle(room.host->name, state);
        if (obstacle.text.empty()) obstacle = co_await network_obstacle(room.host->name);
        if (obstacle.text.empty())
            obstacle.text = co_await storage_obstacle(room.host->name, state, none_placed, kOfferedSizesAge);
        offering.usable = obstacle.text.empty();
        offering.why_not = std::move(obstacle.text);
        offering.remedy = std::move(obstacle.remedy);
        const auto& overhead = settings_.spec.vmMemOverheadMiB;
        offering.largest = {room.largest_cpus, std::max<std::int64_t>(room.largest_memory_mib - overhead, 0)};
        offering.evacuate = room.evacuate;
        offering.cpu_cores = room.host->cpus;
        offering.memory_mib = room.host->memory_mib;
        offering.free_cpu_cores = std::max<std::int64_t>(room.free_cpus, 0);
        offering.free_memory_mib =
            std::max<std::int64_t>(room.free_memory_mib - settings_.spec.vmMemOverheadMiB, 0);
        for (const auto vmid : room.machines) offering.machines.push_back(std::to_string(vmid));
        result.push_back(std::move(offering));
    }
    co_return result;
}

// ---- the storages of hosts
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
    std::string host, ClusterView::StatePointer state, std::vector<CapacityReservation> reservations,
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
                                                           std::vector<CapacityReservation> reservations,
                                                           base::Duration max_age) {
    const auto sites = co_await disk_sites(std::move(host), state, std::move(reservations), max_age);
    for (const auto& [storage, need, room] : sites) {
        const auto cause = full_storages_.cause(storage);
        if (!cause.empty())
            co_return storage.str() + " was full when a machine was created (" + cause +
                "); it is tried again after a pause, or when space on it is freed";
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
    const std::vector<CapacityReservation> none_placed;
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
