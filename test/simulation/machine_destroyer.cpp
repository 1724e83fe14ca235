#include "test/simulation/machine_destroyer.hpp"

#include "test/simulation/dice.hpp"

namespace simulation {

namespace {

constexpr double kDestroyerShare = 0.12;

}  // namespace

MachineDestroyer::MachineDestroyer(World& world)
    : world_(world), random_(world.random_for("machine destroyer")) {}

void MachineDestroyer::begin() {
    Dice dice(*random_);
    if (world_.faults.is_calm() || !dice.chance(kDestroyerShare)) return;
    const auto begins = world_.now() + dice.seconds(120, 1200);
    ends_ = dice.chance(0.3) ? base::TimePoint::max() : begins + dice.seconds(300, 1800);
    next_ = world_.clock.call_at(begins, [this] { act(); });
}

void MachineDestroyer::make_peace() {
    next_.reset();
}

// Destroys running machines whose claims are in service.
void MachineDestroyer::act() {
    if (world_.now() > ends_) return;
    for (const auto vmid : world_.administrators.marked()) {
        const auto is_of = [vmid](const NodeSmithClaim& claim) {
            return claim.status.machineID == std::to_string(vmid) &&
                   api::is_true(claim.status.conditions, api::conditions::kReady) &&
                   !claim.metadata.deletionTimestamp;
        };
        const NodeSmithClaim* owner = nullptr;
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>())
            if (is_of(*claim)) owner = claim.get();
        if (!owner || random_->below(2) == 0) continue;
        world_.trace.line("machine destroyer", "destroys the machine of claim ", owner->metadata.name);
        world_.happenings.count("machine destroyer: destroyed a machine");
        world_.note_taking(*owner);
        world_.interference.last = world_.now();
        world_.administrators.destroy(vmid);
        break;
    }
    next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(10, 120), [this] { act(); });
}

}  // namespace simulation
