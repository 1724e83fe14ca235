// Determines what each pool may launch now, from the stores.
#pragma once

#include <vector>

#include "controllers/provisioning/world.hpp"
#include "controllers/services/reservations.hpp"

namespace controllers::provisioning {

// Returns all pools, sorted by key. Claims that are `under_way` to the API server count.
std::vector<PoolSupply> look_at_pools(const Informers& informers, const Reservations& reservations,
                                      const ClaimPointers& under_way, api::Time now);

}  // namespace controllers::provisioning
