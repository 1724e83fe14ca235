// Determines which rights a provider's credentials lack for a pool's way of joining. Pure.
#pragma once

#include <string>

#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"

namespace controllers {

// Returns the bootstrap of the pool, or of the control plane that manages it (null: none).
api::v1alpha1::Bootstrap bootstrap_of(const api::v1alpha1::NodeSmithPool& pool,
                                      const api::v1alpha1::NodeSmithControlPlane* manager);

// Returns the message of the provider's condition for this way of joining; empty: nothing is missing.
std::string missing_for_boot(const api::v1alpha1::NodeSmithProvider& provider,
                             const api::v1alpha1::Bootstrap& bootstrap);

}  // namespace controllers
