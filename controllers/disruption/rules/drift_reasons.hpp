// How machines differ from what would be made now. What a machine was made from is compared, as its claim has
// it on record. What others write to the Node or to the machine is no difference. Pure.
#pragma once

#include <string>
#include <string_view>

#include "controllers/cache/kinds.hpp"

namespace controllers::disruption {

// On a claim: a person wants another machine in its place, whatever the pool's policy for drift is. Each
// value is a request of its own, so that the machine that comes may be replaced in turn.
inline constexpr std::string_view kReplaceAsked = "kubenodesmith.io/replace";
// Returns the value of that annotation; empty: nobody asks for it.
std::string replacement_asked(const NodeSmithClaim& claim);

// Returns how the machine differs from what the pool would make now; empty: it does not. `template_hash` is
// the pool's present one, empty while its provider is not there.
std::string drift_of(const std::string& template_hash, const NodeSmithClaim& claim);

// Returns whether the template that the machine was made from is another one now, in words; empty: it is not,
// or the provider does not know. While a template cannot be seen, its last revision is still on record.
std::string template_drift(const NodeSmithProvider& provider, const NodeSmithClaim& claim);
// Returns the revisions of the templates that the provider has now, as a cause of drift.
std::string present_templates(const NodeSmithProvider& provider);

}  // namespace controllers::disruption
