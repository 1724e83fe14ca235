// Limits how many nodes of a pool may be disrupted simultaneously (disruption.budgets). Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "controllers/disruption/facts/blocker.hpp"

namespace controllers::disruption {

struct BudgetUse {
    std::int64_t nodes = 0;      // nodes of the pool in service or leaving; base of percentages
    std::int64_t disrupted = 0;  // leaving or not Ready ones among them
};

// Returns how many further nodes of the pool the active budgets allow to disrupt for that reason now;
// nullopt: none limits it. Throws std::invalid_argument if a schedule cannot be understood.
std::optional<std::int64_t> budget_room(const api::v1alpha1::Disruption& disruption, Kind kind, BudgetUse use,
                                        api::Time now);

// Returns why no further node of the pool may be disrupted for that reason now.
// The strictest active budget decides.
std::optional<Blocker> budget_blocker(const api::v1alpha1::Disruption& disruption, Kind kind, BudgetUse use,
                                      api::Time now);

}  // namespace controllers::disruption
