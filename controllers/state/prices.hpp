// Determines the prices of a pool's machines from its template.
#pragma once
#include "api/v1alpha1/pool.hpp"
#include "scheduling/input/prices.hpp"

namespace controllers {

// Returns the prices. If all are zero, which the CRD refuses, it returns the
// prices of pools without stated ones.
scheduling::Prices prices_of(const api::v1alpha1::NodeSmithPool& pool);

}  // namespace controllers
