// Finds out how machines differ from what would be created now. It compares what a machine was made from, as
// its claim recorded it. Changes that others make to the Node or machine do not count. Pure.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"

namespace controllers::disruption {

// Returns the value of the annotation that asks for another machine; empty: the claim has none.
std::string replacement_asked(const NodeSmithClaim& claim);

// Returns how the machine differs from what the pool would make now; empty: it does not. `template_hash` is
// the pool's present one; it is empty while the provider is missing.
std::string drift_of(const std::string& template_hash, const NodeSmithClaim& claim);

// Returns a text if the machine's template has changed since; empty: it has not, or the provider does not
// know. The last revision of an invisible template is still recorded.
std::string template_drift(const NodeSmithProvider& provider, const NodeSmithClaim& claim);
// Returns the revisions of the provider's present templates, as a cause of drift.
std::string present_templates(const NodeSmithProvider& provider);

}  // namespace controllers::disruption
