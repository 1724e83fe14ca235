// Bounds the machines of one decision, as budgets of the snapshot. They are the limits and paces of pools,
// and the shared limits and hourly rate of a control plane.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "controllers/provisioning/world.hpp"

namespace controllers::provisioning {

class Budgets {
public:
    // `world` must outlive this object.
    explicit Budgets(World& world) : world_(world) {}

    // Adds the budgets of the supply's pool; `entry` is that pool's.
    void add(scheduling::Pool& entry, const PoolSupply& supply);

private:
    using Indices = std::vector<std::size_t>;  // indices into Snapshot::budgets

    Indices of_manager(const PoolSupply& supply);
    // Adds one budget for each limit, so that a refusal names the limit.
    void add_limits(Indices& to, const std::string& whose, const BudgetOwner& owner,
                    const limits::LimitUse& limit_use);
    void add_budget(Indices& to, scheduling::Budget budget, const BudgetOwner& owner);

    World& world_;
    std::map<kube::ObjectKey, Indices> of_managers_;
};

}  // namespace controllers::provisioning
