// What each pool may launch now, from the stores.
#pragma once

#include <vector>

#include "controllers/provisioning/world.hpp"
#include "controllers/services/reservations.hpp"

namespace controllers::provisioning {

// All pools, in the order of their keys.
std::vector<PoolSupply> look_at_pools(const Informers& informers, const Reservations& reservations,
                                      api::Time now);

}  // namespace controllers::provisioning
