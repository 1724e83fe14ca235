// What each pool may launch now, from the stores.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "controllers/provisioning/world.hpp"
#include "controllers/services/reservations.hpp"

namespace controllers::provisioning {

// How many machines this process launched in the last hour, by ControlPlane.
class CreationLog {
public:
    explicit CreationLog(base::Clock& clock) : clock_(clock) {}
    void add(const kube::ObjectKey& manager) { times_[manager].push_back(clock_.now()); }
    std::int64_t last_hour(const kube::ObjectKey& manager);

private:
    base::Clock& clock_;
    std::map<kube::ObjectKey, std::deque<base::TimePoint>> times_;
};

// All pools, in the order of their keys.
std::vector<PoolSupply> look_at_pools(const Informers& informers, const Reservations& reservations,
                                      CreationLog& creations, api::Time now);

}  // namespace controllers::provisioning
