// What a pool's machines cost, as its template states it.
#pragma once
#include "api/v1alpha1/pool.hpp"
#include "scheduling/input/prices.hpp"

namespace controllers {

// Where nothing would cost anything, which the CRD refuses, the prices of pools that state none.
scheduling::Prices prices_of(const api::v1alpha1::NodeSmithPool& pool);

}  // namespace controllers
