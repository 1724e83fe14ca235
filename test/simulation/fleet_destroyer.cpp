#include "test/simulation/fleet_destroyer.hpp"

#include "test/simulation/dice.hpp"

namespace simulation {

namespace {

constexpr double kSeedsWithDestroyer = 0.15;
constexpr std::size_t kFewestForAQuestion = 2;
constexpr base::Duration kReads = std::chrono::minutes{5};

class FleetDestroyer final : public Outsider {
public:
    explicit FleetDestroyer(World& world) : world_(world), random_(world.random_for("fleet destroyer")) {}

    void begin() override {
        Dice dice(*random_);
        // Machines also vanish in seeds without this destroyer, so the reader is always there.
        read_later();
        if (world_.faults.is_calm() || !dice.chance(kSeedsWithDestroyer)) return;
        next_ = world_.clock.call_at(world_.now() + dice.seconds(300, 3000), [this] { destroy(); });
    }

    void make_peace() override { next_.reset(); }

private:
    void destroy() {
        const auto ids = world_.administrators.marked();
        if (ids.size() < kFewestForAQuestion) return;
        Dice dice(*random_);
        const bool takes_all = dice.chance(0.3);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (!takes_all && i >= kFewestForAQuestion && dice.chance(0.5)) continue;
            world_.happenings.count("fleet destroyer: destroyed a machine");
            world_.administrators.destroy(ids[i]);
        }
    }

    void read_later() {
        reading_ = world_.clock.call_at(world_.now() + kReads, [this] {
            read();
            read_later();
        });
    }

    // Acts only on what the operator reports, and checks Proxmox first.
    void read() {
        for (const auto& [key, provider] : std::map(world_.view.all<NodeSmithProvider>())) {
            const auto* question =
                api::find_condition(provider->status.conditions, api::conditions::kMachinesVanished);
            if (!question || question->status != api::ConditionStatus::True) continue;
            for (const auto& [name, claim] : std::map(world_.view.all<NodeSmithClaim>()))
                if (name.namespace_ == key.namespace_ && is_named(question->message, name.name) &&
                    !has_machine(*claim))
                    state_gone(name);
        }
    }

    static bool is_named(const std::string& message, const std::string& claim) {
        return message.find(" " + claim + " ") != std::string::npos;
    }

    bool has_machine(const NodeSmithClaim& claim) const {
        for (const auto vmid : world_.administrators.marked()) {
            const auto& machine = world_.proxmox.cluster().world.machines.at(vmid);
            const auto& mark = world_.administrators.mark_of(machine);
            if (mark && mark->claim_uid == claim.metadata.uid) return true;
        }
        return false;
    }

    void state_gone(const kube::ObjectKey& name) {
        world_.trace.line("user", "states that the machine of claim ", name.name, " is gone");
        world_.happenings.count("fleet destroyer: stated that a machine is gone");
        world_.server.edit<NodeSmithClaim>(name, [](NodeSmithClaim& edited) {
            edited.metadata.annotations[std::string(api::annotations::kMachineGone)] = "true";
        });
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_, reading_;
};

}  // namespace

std::unique_ptr<Outsider> make_fleet_destroyer(World& world) {
    return std::make_unique<FleetDestroyer>(world);
}

}  // namespace simulation
