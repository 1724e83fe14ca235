// Objects that this version does not understand as they are now: their spec has a value of a newer version,
// or they cannot be decoded and are known as they were before. They and their machines are left alone.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"

namespace controllers {

// Returns why the object is not understood, for people; empty: it is.
std::string why_not_understood(const api::ObjectMeta& metadata);
inline bool is_understood(const api::ObjectMeta& metadata) {
    return why_not_understood(metadata).empty();
}

// Sets Accepted=False, Ready=False and Stalled for an object whose spec has a value that is not known, else
// removes Accepted. Pure.
void conclude_acceptance(api::Conditions& conditions, const api::ObjectMeta& metadata, api::Time now);

}  // namespace controllers
