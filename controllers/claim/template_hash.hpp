// A fingerprint of everything in a pool that shapes its machines: a claim whose fingerprint differs has
// drifted.
#pragma once

#include <string>

#include "api/v1alpha1/pool.hpp"

namespace controllers::claim {

// 16 hexadecimal digits; equal for equal machineTemplate (but for sizes and names of what is bought next),
// bootstrap and providerRef.
std::string template_hash(const api::v1alpha1::NodeSmithPool& pool);

}  // namespace controllers::claim
