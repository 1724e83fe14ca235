// Computes the capacity of a bare-metal host from its spec, its Node and its BMC. Pure.
#pragma once

#include <optional>

#include "controllers/host_status.hpp"

namespace controllers {

// Returns nullopt if no source reports a capacity.
std::optional<api::v1alpha1::HostCapacity> next_capacity(const HostFacts& facts);

}  // namespace controllers
