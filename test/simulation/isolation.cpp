#include "test/simulation/isolation.hpp"

#include <string>

#include "test/simulation/dice.hpp"

namespace simulation {
namespace {

constexpr double kShareOfIsolation = 0.35;

class Isolation final : public Outsider {
public:
    explicit Isolation(World& world) : world_(world), random_(world.random_for("isolation")) {}

    void begin() override {
        Dice dice(*random_);
        const auto hosts = world_.proxmox.cluster().world.hosts.size();
        if (world_.faults.is_calm() || hosts < 2 || !dice.chance(kShareOfIsolation)) return;
        arm();
    }

    void make_peace() override {
        next_.reset();
        end_.reset();
        rejoin();
    }

private:
    void arm() {
        next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(60, 2400), [this] {
            isolate();
            arm();
        });
    }

    void isolate() {
        if (!isolated_.empty()) return;
        const auto& hosts = world_.proxmox.cluster().world.hosts;
        const auto& host = random_->below(2) == 0 ? hosts.front() : hosts[random_->below(hosts.size())];
        if (!host.powered_on) return;
        isolated_ = host.name;
        world_.trace.line("host", isolated_, " loses the others");
        world_.happenings.count(isolated_ == hosts.front().name
                                    ? "isolation: the first endpoint lost the other hosts"
                                    : "isolation: a host lost the others");
        world_.interference.last = world_.now();
        world_.interference.isolates_hosts = true;
        world_.proxmox.cluster().isolate(isolated_);
        end_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(20, 900), [this] { rejoin(); });
    }

    void rejoin() {
        if (isolated_.empty()) return;
        world_.trace.line("host", isolated_, " sees the others again");
        world_.interference.last = world_.now();
        world_.proxmox.cluster().rejoin(isolated_);
        isolated_.clear();
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_, end_;
    std::string isolated_;
};

}  // namespace

std::unique_ptr<Outsider> isolation(World& world) {
    return std::make_unique<Isolation>(world);
}

}  // namespace simulation
