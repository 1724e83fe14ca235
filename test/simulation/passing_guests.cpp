#include "test/simulation/passing_guests.hpp"

#include <list>
#include <string>
#include <vector>

#include "test/simulation/dice.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace simulation {
namespace {

constexpr double kShareOfPassing = 0.35;
constexpr double kShareOfTemplates = 0.5;
// Guests use the first IDs of a range, which the operator is likely to choose next.
constexpr std::int64_t kReachOfPassing = 12;

class PassingGuests final : public Outsider {
public:
    explicit PassingGuests(World& world) : world_(world), random_(world.random_for("passing guests")) {}

    void begin() override {
        Dice dice(*random_);
        if (world_.faults.is_calm() || !dice.chance(kShareOfPassing)) return;
        arm();
    }

    // Guests that exist remain; clones and removals under way are completed.
    void make_peace() override {
        next_.reset();
        alarms_.clear();
        for (const auto vmid : being_cloned_) finish(vmid);
        being_cloned_.clear();
        for (auto& [volume, host] : left_) free(volume, host);
        left_.clear();
    }

private:
    struct Left {
        std::string volume, host;
    };

    proxmox::World& proxmox() const { return world_.proxmox.cluster().world; }

    void arm() {
        next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(30, 900), [this] {
            come();
            arm();
        });
    }

    void later(base::Duration wait, std::function<void()> action) {
        alarms_.push_back(world_.clock.call_at(world_.now() + wait, std::move(action)));
    }

    void come() {
        Dice dice(*random_);
        std::vector<std::int64_t> firsts;
        for (const auto& provider : world_.scenario.providers)
            if (provider.spec.proxmox && provider.spec.proxmox->vmIDRange)
                firsts.push_back(provider.spec.proxmox->vmIDRange->lower);
        const auto& hosts = proxmox().hosts;
        const auto& host = hosts[random_->below(hosts.size())];
        if (firsts.empty() || !host.powered_on) return;
        if (!has_cloned_template_ && dice.chance(kShareOfTemplates)) {
            has_cloned_template_ = world_.administrators.plant_copy_of_template();
            if (has_cloned_template_)
                return world_.happenings.count("passing guest: cloned a template of the operator");
        }
        const auto wanted = static_cast<int>(dice.one_of(firsts) + dice.between(0, kReachOfPassing));
        proxmox::Config config{{"lock", "clone"}, {"description", " qmclone temporary file"}};
        const auto vmid = world_.administrators.plant_stranger(wanted, host.name, std::move(config));
        being_cloned_.insert(vmid);
        world_.happenings.count("passing guest: came");
        later(dice.seconds(5, 90), [this, vmid] {
            being_cloned_.erase(vmid);
            finish(vmid);
            later(Dice(*random_).seconds(10, 1200), [this, vmid] { go(vmid); });
        });
    }

    void finish(int vmid) {
        const auto found = proxmox().machines.find(vmid);
        if (found == proxmox().machines.end() || !world_.administrators.is_stranger(vmid)) return;
        auto& machine = found->second;
        machine.config = {{"name", "passing-" + std::to_string(vmid)}, {"memory", "512"}, {"cores", "1"}};
        machine.config["smbios1"] = "uuid=deadbeef-0000-4000-8000-" + random_->text(12, "0123456789abcdef");
        if (const auto volume = make_disk(machine); !volume.empty()) machine.config["scsi0"] = volume;
    }

    std::string make_disk(const proxmox::Machine& machine) {
        for (auto& [id, storage] : proxmox().storages) {
            if (!storage.content.contains("images") || !proxmox::exists_on(storage, machine.node)) continue;
            proxmox::Volume volume;
            volume.format = "raw";
            volume.name = free_name(id, storage, machine);
            volume.content = "images";
            volume.size = proxmox::kGiB;
            volume.vmid = machine.vmid;
            return proxmox::print_volume_id(id, proxmox::add_volume(storage, machine.node, volume));
        }
        return {};
    }

    // Returns a free name, because others may have volumes of that VMID.
    std::string free_name(const std::string& id, const proxmox::Storage& storage,
                          const proxmox::Machine& machine) const {
        for (int number = 0;; ++number) {
            auto name = "vm-" + std::to_string(machine.vmid) + "-disk-" + std::to_string(number);
            if (proxmox::is_file_based(storage)) name = std::to_string(machine.vmid) + "/" + name + ".raw";
            const auto volume = id + ":" + name;
            if (!proxmox::find_volume(std::as_const(proxmox()), machine.node, volume)) return name;
        }
    }

    // Removes a guest. A disk that outlives its machine for a while keeps the VMID in use.
    void go(int vmid) {
        const auto found = proxmox().machines.find(vmid);
        if (found == proxmox().machines.end() || !world_.administrators.is_stranger(vmid)) return;
        const auto host = found->second.node;
        const auto machine = found->second;
        world_.administrators.remove_stranger(vmid);
        world_.happenings.count("passing guest: went");
        if (random_->below(3) != 0) return;
        const auto volume = make_disk(machine);
        if (volume.empty()) return;
        world_.happenings.count("passing guest: left its disk");
        left_.push_back({volume, host});
        later(Dice(*random_).seconds(60, 1800), [this, volume, host] {
            std::erase_if(left_, [&](const Left& left) { return left.volume == volume; });
            free(volume, host);
        });
    }

    void free(const std::string& volume, const std::string& host) {
        if (!proxmox::find_volume(std::as_const(proxmox()), host, volume)) return;
        proxmox::free_volume(proxmox(), host, volume);
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
    std::list<std::unique_ptr<base::Alarm>> alarms_;
    bool has_cloned_template_ = false;
    std::set<int> being_cloned_;
    std::vector<Left> left_;
};

}  // namespace

std::unique_ptr<Outsider> passing_guests(World& world) {
    return std::make_unique<PassingGuests>(world);
}

}  // namespace simulation
