// What bounds the machines of one decision, as budgets of the snapshot: limits and paces of pools, and the
// limits and the hourly rate that the pools of a control plane share.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "controllers/provisioning/world.hpp"

namespace controllers::provisioning {

class Budgets {
public:
    // `world` must outlive this.
    explicit Budgets(World& world) : world_(world) {}

    // The entry is that of the supply's pool.
    void add(scheduling::Pool& entry, const PoolSupply& supply);

private:
    using Indices = std::vector<std::size_t>;  // into Snapshot::budgets

    Indices of_manager(const PoolSupply& supply);
    // One budget for each limit, so that a cut names the limit in the way.
    void add_limits(Indices& to, const std::string& whose, const BudgetOwner& owner,
                    const limits::LimitUse& limit_use);
    void add_budget(Indices& to, scheduling::Budget budget, const BudgetOwner& owner);

    World& world_;
    std::map<kube::ObjectKey, Indices> of_managers_;
};

}  // namespace controllers::provisioning
