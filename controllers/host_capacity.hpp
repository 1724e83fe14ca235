// What a bare-metal host offers, by all who tell of it. Pure.
#pragma once

#include <optional>

#include "controllers/host_reconciler.hpp"

namespace controllers {

// nullopt: nobody tells.
std::optional<api::v1alpha1::HostCapacity> next_capacity(const HostFacts& facts);

}  // namespace controllers
