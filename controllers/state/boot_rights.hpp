// What a provider's credentials lack for the way in which a pool's machines join. Pure.
#pragma once

#include <string>

#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"

namespace controllers {

// The pool's, or that of the control plane that manages it (null: none).
api::v1alpha1::Bootstrap bootstrap_of(const api::v1alpha1::NodeSmithPool& pool,
                                      const api::v1alpha1::NodeSmithControlPlane* manager);

// As the provider's condition for this way of joining says; empty: nothing.
std::string missing_for_boot(const api::v1alpha1::NodeSmithProvider& provider,
                             const api::v1alpha1::Bootstrap& bootstrap);

}  // namespace controllers
