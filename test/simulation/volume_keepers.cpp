#include "test/simulation/volume_keepers.hpp"

#include <string>
#include <vector>

#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace simulation {
namespace {

using namespace std::chrono_literals;

constexpr int kFirstOfPeople = 60'000;           // VMIDs from here on are in no range of the scenarios
constexpr std::uint64_t kPauseOfKeepers = 1200;  // s

class VolumeKeepers final : public Outsider {
public:
    explicit VolumeKeepers(World& world) : world_(world), random_(world.random_for("volume keepers")) {}

    void begin() override {
        if (world_.faults.is_calm()) return;
        for (int i = 0; i < 3; ++i) keep(kCsiOwner, "pvc-" + random_->text(8, "0123456789abcdef"));
        for (const auto& provider : world_.scenario.providers) {
            if (!provider.spec.proxmox) continue;
            const auto range = provider.spec.proxmox->vmIDRange.value_or(api::v1alpha1::VMIDRange{100, 119});
            for (int i = 0; i < 3; ++i) {
                const auto size = static_cast<std::uint64_t>(range.upper - range.lower + 1);
                keep(static_cast<int>(range.lower + static_cast<std::int64_t>(random_->below(size))),
                     "disk-0");
            }
        }
        arm();
        arm_reading();
    }

    void make_peace() override { next_.reset(); }

private:
    void arm() {
        const auto pause =
            std::chrono::seconds{60 + static_cast<std::int64_t>(random_->below(kPauseOfKeepers))};
        next_ = world_.clock.call_at(world_.now() + pause, [this] {
            if (random_->below(3) == 0)
                put_beside();
            else
                attach();
            arm();
        });
    }

    void arm_reading() {
        reading_ = world_.clock.call_at(world_.now() + 1min, [this] {
            move_what_is_asked_for();
            arm_reading();
        });
    }

    proxmox::World& proxmox() const { return world_.proxmox.cluster().world; }

    // Makes a disk on a storage that the host has. Returns its volume ID.
    std::string make(const std::string& host, int owner, const std::string& purpose) {
        std::vector<proxmox::Storage*> storages;
        for (auto& [id, storage] : proxmox().storages)
            if (storage.content.contains("images") && proxmox::exists_on(storage, host))
                storages.push_back(&storage);
        if (storages.empty()) return {};
        auto& storage = *storages[random_->below(storages.size())];
        proxmox::Volume volume;
        volume.name = "vm-" + std::to_string(owner) + "-" + purpose;
        if (proxmox::is_file_based(storage)) volume.name = std::to_string(owner) + "/" + volume.name + ".raw";
        volume.content = "images";
        volume.format = "raw";
        volume.size = proxmox::kGiB;
        volume.vmid = owner;
        volume.data = kDataOfOthers + std::to_string(++made_);
        if (proxmox::volumes_on(storage, host).contains(volume.name)) return {};
        const auto id = storage.id + ":" + volume.name;
        proxmox::add_volume(storage, host, std::move(volume));
        return id;
    }

    void keep(int owner, const std::string& purpose) {
        const auto& hosts = proxmox().hosts;
        if (proxmox().machines.contains(owner)) return;
        const auto id = make(hosts[random_->below(hosts.size())].name, owner, purpose);
        if (!id.empty()) world_.happenings.count("volume keeper: kept a disk");
    }

    // Lets the second cluster make a VM with the VMID of one of the operator's machines.
    void put_beside() {
        const auto ids = world_.administrators.marked();
        if (ids.empty()) return;
        const auto& machine = proxmox().machines.at(ids[random_->below(ids.size())]);
        const auto id = make(machine.node, machine.vmid, "disk-9");
        if (id.empty()) return;
        world_.trace.line("volume keeper", "makes ", id, " for a VM of another cluster");
        world_.happenings.count("volume keeper: made a disk with the VMID of a machine");
    }

    // Attaches a disk of a person or of the CSI plugin to a machine of the operator.
    void attach() {
        const auto ids = world_.administrators.marked();
        if (ids.empty()) return;
        auto& machine = proxmox().machines.at(ids[random_->below(ids.size())]);
        if (machine.config.contains("lock") || machine.config.contains("template")) return;
        const bool is_csi = random_->below(3) == 0;
        const bool is_unused = !is_csi && random_->below(3) == 0;
        const std::string option = is_unused ? "unused7" : "scsi7";
        if (machine.config.contains(option)) return;
        const auto purpose = is_csi ? "pvc-" + random_->text(8, "0123456789abcdef") : std::string("disk-7");
        const auto id = make(machine.node, is_csi ? kCsiOwner : machine.vmid, purpose);
        if (id.empty()) return;
        machine.config[option] = is_unused ? id : id + ",size=1G";
        world_.trace.line("volume keeper", "attaches ", id, " to machine ", machine.vmid, " as ", option);
        world_.happenings.count(is_csi ? "volume keeper: attached a CSI volume"
                                       : "volume keeper: attached a disk");
    }

    bool is_asked_for(const std::string& volume) const {
        const auto names_it = [&volume](const auto& object) {
            for (const auto& condition : object.status.conditions)
                if (condition.message.find(volume) != std::string::npos) return true;
            return false;
        };
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>())
            if (names_it(*claim)) return true;
        for (const auto& [key, provider] : world_.view.all<NodeSmithProvider>())
            if (names_it(*provider)) return true;
        return false;
    }

    // Moves disks as qm disk move --target-vmid does: the volume gets the other VM's ID.
    void move_what_is_asked_for() {
        for (auto& [vmid, machine] : proxmox().machines) {
            for (const char* option : {"scsi7", "unused7"}) {
                const auto value = machine.config.find(option);
                if (value == machine.config.end()) continue;
                const auto volume = value->second.substr(0, value->second.find(','));
                auto* known = proxmox::find_volume(proxmox(), machine.node, volume);
                if (!known || known->vmid != vmid || !is_asked_for(volume)) continue;
                move(machine, volume);
                machine.config.erase(option);
            }
        }
    }

    void move(const proxmox::Machine& machine, const std::string& volume) {
        const auto id = proxmox::parse_volume_id(volume);
        auto& storage = proxmox::find_storage(proxmox(), id.storage);
        auto moved = *proxmox::find_volume(proxmox(), machine.node, volume);
        proxmox::free_volume(proxmox(), machine.node, volume);
        moved.vmid = kFirstOfPeople + ++moves_;
        moved.name = "vm-" + std::to_string(*moved.vmid) + "-disk-0";
        if (proxmox::is_file_based(storage))
            moved.name = std::to_string(*moved.vmid) + "/" + moved.name + ".raw";
        world_.trace.line("volume keeper", "moves ", volume, " to ", moved.name);
        proxmox::add_volume(storage, machine.node, std::move(moved));
        world_.happenings.count("volume keeper: moved a disk as asked for");
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_, reading_;
    int made_ = 0;
    int moves_ = 0;
};

}  // namespace

std::unique_ptr<Outsider> volume_keepers(World& world) {
    return std::make_unique<VolumeKeepers>(world);
}

}  // namespace simulation
