// Decides what may be launched while the batch is still open.
#include <algorithm>
#include <set>

#include "controllers/provisioning/decision.hpp"

namespace controllers::provisioning {

namespace {

// Reports whether the pool launches without pauses or batch limits. Such settings ask
// for few, well considered launches.
bool launches_at_any_time(const api::v1alpha1::ScaleUp& scale_up) {
    return scale_up.batchSize == 0 && scale_up.stabilizationWindow.value <= std::chrono::seconds{0};
}

}  // namespace

void keep_what_is_certain(Decision& decision) {
    std::set<std::size_t> scarce;  // budgets
    for (const auto& cut : decision.result.cuts) scarce.insert(cut.budget);
    for (auto& launch : decision.launches) {
        // The last machines of a limit are distributed when all pods are known.
        const auto& budgets = decision.world.snapshot.pools[launch.pool].budgets;
        const bool is_scarce =
            std::ranges::any_of(budgets, [&](std::size_t budget) { return scarce.contains(budget); });
        const bool may_launch = !is_scarce && launch.observed_by.empty() &&
                                launches_at_any_time(decision.world.pools[launch.pool].pool->spec.scaleUp);
        std::erase_if(launch.claims, [&](std::size_t claim) {
            const auto& made = decision.result.claims[claim];
            return !may_launch || !made.is_full || made.pods.empty();
        });
    }
    std::erase_if(decision.launches, [](const PoolLaunch& launch) { return launch.claims.empty(); });
}

}  // namespace controllers::provisioning
