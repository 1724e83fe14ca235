// A fingerprint of everything in a pool and its provider that shapes machines: a claim whose fingerprint
// differs has drifted.
#pragma once

#include <string>

#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"

namespace controllers::claim {

// 16 hexadecimal digits; equal for equal machineTemplate, bootstrap and providerRef of the pool, and equal
// template, options, network interfaces, cloud-init and overhead of the provider (null: there is none). Where
// machines are placed and how the provider is reached does not shape them.
std::string template_hash(const api::v1alpha1::NodeSmithPool& pool,
                          const api::v1alpha1::NodeSmithProvider* provider);

}  // namespace controllers::claim
