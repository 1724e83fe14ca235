// Invariant 26: no volume of others disappears, and the operator uses no VMID that has such volumes.
#include <set>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulation/volume_keepers.hpp"
#include "test/simulators/proxmox/core/access.hpp"

namespace simulation {
namespace {

// These faults keep the operator from seeing volumes, so it may use their VMIDs.
constexpr Fault kBlinding[] = {Fault::provider_refused, Fault::provider_answer_lost,
                               Fault::provider_slow,    Fault::host_died,
                               Fault::power_cut,        Fault::right_withdrawn};

class VolumesOfOthersStay final : public Invariant {
public:
    explicit VolumesOfOthersStay(const Stage& stage) : Invariant(stage) {
        world_.network.on_departure.push_back([this](const base::HttpRequest& request) {
            const auto vmid = request.method == "DELETE" ? vmid_of(request.target) : std::nullopt;
            if (vmid) destruction_departed_[*vmid] = world_.now();
        });
    }

    void each_second() override {
        if (has_begun_) return;
        has_begun_ = true;
        look();
        for (const auto& [content, place] : seen_) from_start_.insert(place);
        for (const auto& [vmid, machine] : world_.proxmox.cluster().world.machines) machines_.insert(vmid);
    }

    void after_change() override {
        const auto before = seen_;
        look();
        for (const auto& [content, place] : before) {
            if (seen_.contains(content) || came_too_late(content, place)) continue;
            stage_.violate(kName, "the volume with \"" + content + "\" and VMID " +
                                      std::to_string(place.vmid) + " on storage " + place.storage +
                                      " is gone");
        }
        for (const auto& [vmid, machine] : world_.proxmox.cluster().world.machines) {
            // A clone is on the host of its template until it moves to its own host.
            const auto lock = machine.config.find("lock");
            const bool is_being_cloned = lock != machine.config.end() && lock->second == "clone";
            if (!is_being_cloned && machines_.insert(vmid).second) check_id(vmid, machine.node);
        }
    }

private:
    struct Place {
        int vmid = 0;
        std::string storage;
        std::string host;  // "": all hosts share it
        auto operator<=>(const Place&) const = default;
    };

    // The destruction of a VM carries no digest. Nothing protects a disk that somebody attaches while the
    // request is on its way, or in the few seconds after the operator's last look.
    bool came_too_late(const std::string& content, const Place& place) const {
        constexpr std::chrono::seconds kSlowestNetwork{30};
        constexpr std::chrono::seconds kLastLook{5};
        const auto departed = destruction_departed_.find(place.vmid);
        return departed != destruction_departed_.end() &&
               departed->second <= appeared_.at(content) + kLastLook &&
               world_.now() - departed->second <= kSlowestNetwork;
    }

    void look() {
        seen_.clear();
        for (const auto& [id, storage] : world_.proxmox.cluster().world.storages)
            for (const auto& [host, volumes] : storage.volumes)
                for (const auto& [name, volume] : volumes)
                    if (volume.data.starts_with(kDataOfOthers)) {
                        seen_.emplace(volume.data, Place{volume.vmid.value_or(0), id, host});
                        appeared_.try_emplace(volume.data, world_.now());
                    }
    }

    void check_id(int vmid, const std::string& host) {
        if (world_.administrators.untouchable().contains(vmid)) return;
        if (vmid == kCsiOwner) stage_.violate(kName, "a machine has the VMID 9999");
        if (world_.interference.isolates_hosts) return;
        for (const auto fault : kBlinding)
            if (world_.faults.has(fault)) return;
        for (const auto& place : from_start_) {
            const bool is_there = place.vmid == vmid && (place.host.empty() || place.host == host);
            if (is_there && is_visible(place))
                stage_.violate(kName, "a machine has the VMID " + std::to_string(vmid) +
                                          ", which a volume on storage " + place.storage + " carries");
        }
    }

    bool is_visible(const Place& place) const {
        constexpr const char* kUser = "automation@pve!kubenodesmith";
        const auto& proxmox = world_.proxmox.cluster().world;
        const auto storage = "/storage/" + place.storage;
        const auto has = [&](const std::string& path, std::string_view privilege) {
            return proxmox::has_any(proxmox, kUser, path, {privilege});
        };
        return has(storage, "Datastore.Allocate") ||
               (has(storage, "Datastore.Audit") &&
                has("/vms/" + std::to_string(place.vmid), "VM.Config.Disk"));
    }

    static constexpr const char* kName = "volumes of others stay";
    bool has_begun_ = false;
    std::map<std::string, Place> seen_;                    // by content
    std::map<std::string, base::TimePoint> appeared_;      // by content
    std::map<int, base::TimePoint> destruction_departed_;  // by VMID; the last one
    std::set<Place> from_start_;
    std::set<int> machines_;
};

}  // namespace

std::unique_ptr<Invariant> volumes_of_others_stay(const Stage& stage) {
    return std::make_unique<VolumesOfOthersStay>(stage);
}

}  // namespace simulation
