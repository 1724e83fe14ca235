#include "controllers/provisioning/budgets.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace controllers::provisioning {

void Budgets::add(scheduling::Pool& entry, const PoolSupply& supply) {
    const BudgetOwner own{api::key_of(*supply.pool), {}};
    const auto& name = supply.pool->metadata.name;
    add_limits(entry.budgets, "of pool " + name, own, supply.limit_use);
    if (supply.gate.open && supply.gate.most_claims < std::numeric_limits<std::int64_t>::max()) {
        scheduling::Budget pace;
        pace.name = "scaleUp.batchSize or scaleUp.maxConcurrent of pool " + name;
        pace.nodes = supply.gate.most_claims;
        pace.is_pace = true;
        add_budget(entry.budgets, std::move(pace), own);
    }
    if (supply.manager.name.empty()) return;
    const auto [known, is_new] = of_managers_.try_emplace(supply.manager);
    if (is_new) known->second = of_manager(supply);
    entry.budgets.insert(entry.budgets.end(), known->second.begin(), known->second.end());
}

Budgets::Indices Budgets::of_manager(const PoolSupply& supply) {
    Indices shared;
    const BudgetOwner owner{{}, supply.manager};
    const auto whose = "of control plane " + supply.manager.name;
    add_limits(shared, whose, owner, supply.manager_limit_use);
    if (supply.manager_creations_left) {
        scheduling::Budget rate;
        rate.name = "rateLimits.maxCreationsPerHour " + whose;
        rate.nodes = *supply.manager_creations_left;
        rate.is_pace = true;
        add_budget(shared, std::move(rate), owner);
    }
    return shared;
}

void Budgets::add_limits(Indices& to, const std::string& whose, const BudgetOwner& owner,
                         const limits::LimitUse& limit_use) {
    const auto add = [&](const char* limit, auto scheduling::Budget::* amount, std::int64_t most,
                         std::int64_t used) {
        if (most <= 0) return;
        scheduling::Budget budget;
        budget.name = "limits." + std::string(limit) + " " + whose;
        budget.*amount = std::max<std::int64_t>(0, most - used);
        add_budget(to, std::move(budget), owner);
    };
    const auto& [limits, used] = std::tie(limit_use.limits, limit_use.used);
    add("maxNodes", &scheduling::Budget::nodes, limits.maxNodes, used.nodes);
    add("cpuCores", &scheduling::Budget::cpu_cores, limits.cpuCores, used.cpuCores);
    add("memoryMiB", &scheduling::Budget::memory_mib, limits.memoryMiB, used.memoryMiB);
}

void Budgets::add_budget(Indices& to, scheduling::Budget budget, const BudgetOwner& owner) {
    to.push_back(world_.snapshot.budgets.size());
    world_.snapshot.budgets.push_back(std::move(budget));
    world_.budget_owners.push_back(owner);
}

}  // namespace controllers::provisioning
