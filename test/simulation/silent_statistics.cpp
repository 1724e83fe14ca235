#include "test/simulation/silent_statistics.hpp"

#include <string>

#include "test/simulation/dice.hpp"

namespace simulation {
namespace {

constexpr double kShareOfSilence = 0.35;
// The figures of a host are shown for five minutes.
constexpr std::chrono::minutes kUnknownAfter{5};

class SilentStatistics final : public Outsider {
public:
    explicit SilentStatistics(World& world) : world_(world), random_(world.random_for("silent statistics")) {}

    void begin() override {
        Dice dice(*random_);
        if (world_.faults.is_calm() || !dice.chance(kShareOfSilence)) return;
        world_.guests.subscribe([this](PowerEvent event, const proxmox::MachineView& machine) {
            if (machine.node != silent_ || world_.administrators.is_stranger(machine.vmid)) return;
            world_.happenings.count(event == PowerEvent::started ? "silent pvestatd: a machine started there"
                                    : event == PowerEvent::stopped
                                        ? "silent pvestatd: a machine stopped there"
                                        : "silent pvestatd: a machine was destroyed "
                                          "there");
        });
        arm();
    }

    void make_peace() override {
        next_.reset();
        speak();
    }

private:
    void arm() {
        next_ =
            world_.clock.call_at(world_.now() + Dice(*random_).seconds(60, 1500), [this] { fall_silent(); });
    }

    void fall_silent() {
        Dice dice(*random_);
        auto& hosts = world_.proxmox.cluster().world.hosts;
        auto& host = hosts[random_->below(hosts.size())];
        if (!host.powered_on) return arm();
        host.sends_statistics = false;
        silent_ = host.name;
        world_.trace.line("host", silent_, " sends no statistics");
        world_.interference.last = world_.now();
        const auto lasts = dice.chance(0.4) ? dice.seconds(20, 280) : dice.seconds(360, 1800);
        world_.happenings.count(lasts < kUnknownAfter ? "silent pvestatd: for less than five minutes"
                                                      : "silent pvestatd: until its host was unknown");
        next_ = world_.clock.call_at(world_.now() + lasts, [this] {
            speak();
            arm();
        });
    }

    void speak() {
        if (silent_.empty()) return;
        world_.trace.line("host", silent_, " sends statistics again");
        world_.interference.last = world_.now();
        world_.proxmox.cluster().host(silent_).sends_statistics = true;
        silent_.clear();
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
    std::string silent_;
};

}  // namespace

std::unique_ptr<Outsider> silent_statistics(World& world) {
    return std::make_unique<SilentStatistics>(world);
}

}  // namespace simulation
