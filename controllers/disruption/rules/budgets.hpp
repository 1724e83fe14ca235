// How many nodes of a pool may be disrupted at a time (disruption.budgets). Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "controllers/state/blocker.hpp"

namespace controllers::disruption {

struct BudgetUse {
    std::int64_t nodes = 0;      // of the pool, in service or leaving: what percentages are of
    std::int64_t disrupted = 0;  // of these, leaving, or not Ready
};

// Why no further node of the pool may be disrupted for that reason now; the strictest active budget decides.
std::optional<Blocker> budget_blocker(const api::v1alpha1::Disruption& disruption, Kind kind, BudgetUse use,
                                      api::Time now);

}  // namespace controllers::disruption
