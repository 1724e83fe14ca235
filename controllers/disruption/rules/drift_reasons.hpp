// How nodes differ from what would be made now. Pure.
#pragma once

#include <string>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers::disruption {

// How the Node or its machine differs from what the pool would make now; empty: not. `template_hash` is the
// pool's present one, empty while its provider is not there.
std::string drift_of(const NodeSmithPool& pool, const std::string& template_hash, const NodeSmithClaim& claim,
                     const api::Node& node);

// Whether the template that the machine was made from is another one now, in words; empty: not, or nobody
// knows. While a template cannot be seen, what it was is still on record.
std::string template_drift(const NodeSmithProvider& provider, const NodeSmithClaim& claim);

}  // namespace controllers::disruption
