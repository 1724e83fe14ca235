#include "test/simulation/drills.hpp"

#include <algorithm>

#include "test/simulation/control_plane_copy.hpp"
#include "test/simulation/dice.hpp"

namespace simulation {

namespace {

using namespace std::chrono_literals;

// Two operators of one rack need a lock on its hosts, and two that make templates disturb each other.
bool can_be_shared(const NodeSmithProvider& provider) {
    const auto& proxmox = provider.spec.proxmox;
    const auto& redfish = provider.spec.redfish;
    if (redfish) return redfish->hostLock.field == api::v1alpha1::HostLockField::AssetTag;
    return proxmox && !(proxmox->template_ && proxmox->template_->image);
}

class Drills final : public Outsider {
public:
    explicit Drills(World& world) : world_(world), random_(world.random_for("drills")) {}

    void begin() override {
        const auto& scenario = world_.scenario;
        const bool is_shared = std::ranges::all_of(scenario.providers, can_be_shared);
        if (!world_.faults.is_calm() || !scenario.leader_election || !is_shared) return;
        next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(300, 2400), [this] { copy(); });
    }

    void make_peace() override {
        next_.reset();
        if (copy_) copy_->end();
    }

private:
    void copy() {
        world_.trace.line("drill", "a copy of the control plane starts");
        world_.happenings.count("drill: started a copy of the control plane");
        copy_ = std::make_unique<ControlPlaneCopy>(world_);
        excuse();
    }

    // Removals wait until a person decides.
    void excuse() {
        world_.interference.last = world_.now();
        next_ = world_.clock.call_at(world_.now() + 1min, [this] { excuse(); });
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<ControlPlaneCopy> copy_;
    std::unique_ptr<base::Alarm> next_;
};

}  // namespace

std::unique_ptr<Outsider> make_drills(World& world) {
    return std::make_unique<Drills>(world);
}

}  // namespace simulation
