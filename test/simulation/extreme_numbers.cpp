#include "test/simulation/extreme_numbers.hpp"

#include <limits>
#include <map>

#include "test/simulation/dice.hpp"

namespace simulation {
namespace {

class ExtremeNumbers final : public Outsider {
public:
    explicit ExtremeNumbers(World& world) : world_(world), random_(world.random_for("extreme numbers")) {}

    void begin() override {
        Dice dice(*random_);
        const bool is_here = world_.scenario.variety == Variety::of_users && !world_.faults.is_calm();
        if (!is_here || !dice.chance(0.25)) return;
        for (const auto& [name, deployment] : std::map(world_.workloads.deployments()))
            if (dice.chance(0.5)) let_end_slowly(dice, deployment);
        for (const auto& [key, pool] : std::map(world_.view.all<NodeSmithPool>()))
            if (dice.chance(0.5)) stretch(dice, key, pool->spec);
        if (dice.chance(0.3)) ask_for_everything(dice);
    }

    // A world never rests if its nodes can never become old, empty or unneeded enough for removal.
    void make_peace() override {
        for (const auto& [key, spec] : before_) {
            if (!world_.server.get<NodeSmithPool>(key)) continue;
            world_.server.edit<NodeSmithPool>(key, [&spec](NodeSmithPool& pool) {
                pool.spec.scaleDown.minNodeAge = spec.scaleDown.minNodeAge;
                pool.spec.scaleDown.emptyGracePeriod = spec.scaleDown.emptyGracePeriod;
                pool.spec.scaleDown.unneededDuration = spec.scaleDown.unneededDuration;
                pool.spec.scaleUp.retry.maxBackoff = spec.scaleUp.retry.maxBackoff;
            });
        }
        before_.clear();
    }

private:
    // Each pod takes longer to end than the operator waits for a pod that ignores its deletion.
    void let_end_slowly(Dice& dice, Deployment deployment) {
        static const std::vector<std::int64_t> kGraces{3600, 8'000'000'000, 9'999'999'999,
                                                       std::numeric_limits<std::int64_t>::max()};
        deployment.pod.spec.terminationGracePeriodSeconds = dice.one_of(kGraces);
        deployment.pod.metadata.annotations[kEndsAfter] = std::to_string(dice.between(100, 300));
        world_.workloads.apply(std::move(deployment));
        world_.happenings.count("extreme numbers: a grace period");
    }

    void stretch(Dice& dice, const api::ObjectKey& key, const api::v1alpha1::PoolSpec& spec) {
        static const std::vector<std::string> kLong{"87600h", "2562047h47m16s", "9999999h"};
        const auto a_long_time = [&dice] { return api::Duration::parse(dice.one_of(kLong)); };
        before_[key] = spec;
        world_.server.edit<NodeSmithPool>(key, [&](NodeSmithPool& pool) {
            auto& down = pool.spec.scaleDown;
            pool.spec.disruption.expireAfter.duration = a_long_time();
            if (dice.chance(0.2)) down.minNodeAge = a_long_time();
            if (dice.chance(0.2)) down.emptyGracePeriod = a_long_time();
            if (dice.chance(0.2)) down.unneededDuration = a_long_time();
            if (dice.chance(0.5)) pool.spec.scaleUp.retry.maxBackoff = a_long_time();
        });
        world_.happenings.count("extreme numbers: durations of a pool");
    }

    // Requests more than a sum of 64 bits can hold.
    void ask_for_everything(Dice& dice) {
        static const std::vector<std::string> kResources{"cpu", "memory", "ephemeral-storage"};
        auto giant = a_deployment("everything", 1, "100m", "64Mi");
        auto& containers = *giant.pod.spec.containers;
        while (containers.size() < 12) {
            containers.push_back(containers.front());
            containers.back().name = "app-" + std::to_string(containers.size());
        }
        const auto& resource = dice.one_of(kResources);
        for (auto& container : containers)
            container.resources.requests[resource] =
                api::Quantity::of(std::numeric_limits<std::int64_t>::max());
        world_.workloads.apply(std::move(giant));
        world_.happenings.count("extreme numbers: a pod that asks for everything");
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::map<api::ObjectKey, api::v1alpha1::PoolSpec> before_;
};

}  // namespace

std::unique_ptr<Outsider> make_extreme_numbers(World& world) {
    return std::make_unique<ExtremeNumbers>(world);
}

}  // namespace simulation
