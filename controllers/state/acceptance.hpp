// Detects objects that this version does not understand. Their spec has a value of a newer version. Or they
// cannot be decoded and are known in an older state. The operator does not touch them and their machines.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"

namespace controllers {

// Returns why the object is not understood, for people; empty: it is.
std::string why_not_understood(const api::ObjectMeta& metadata);
inline bool is_understood(const api::ObjectMeta& metadata) {
    return why_not_understood(metadata).empty();
}

// Sets Accepted=False, Ready=False and Stalled for an object whose spec has an unknown value;
// otherwise removes Accepted. Pure.
void conclude_acceptance(api::Conditions& conditions, const api::ObjectMeta& metadata, api::Time now);

}  // namespace controllers
