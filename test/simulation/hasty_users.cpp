#include "test/simulation/hasty_users.hpp"

#include <chrono>
#include <vector>

namespace simulation {
namespace {

constexpr std::uint64_t kOneHasteInSeeds = 8;
constexpr std::int64_t kShortestAge = 20;     // s
constexpr std::uint64_t kOlderByAtMost = 60;  // s

}  // namespace

void HastyUsers::begin() {
    const auto random = world_.random_for("hasty users");
    if (world_.faults.is_calm() || random->below(kOneHasteInSeeds) != 0) return;
    std::vector<api::ObjectKey> pools;
    for (const auto& [key, pool] : world_.view.all<NodeSmithPool>()) pools.push_back(key);
    if (pools.empty()) return;
    const auto& pool = pools[random->below(pools.size())];
    const auto age =
        std::chrono::seconds{kShortestAge + static_cast<std::int64_t>(random->below(kOlderByAtMost))};
    world_.trace.line("hasty user", "wants no node of ", pool.name, " older than ", age.count(), " s");
    world_.happenings.count("hasty user: wants nodes younger than they can be");
    world_.server.edit<NodeSmithPool>(pool, [age](NodeSmithPool& edited) {
        edited.spec.disruption.expireAfter.duration = api::Duration(age);
    });
}

}  // namespace simulation
