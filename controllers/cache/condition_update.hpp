// Builds one condition for a status, from the result of a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/meta.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers {

inline api::ConditionUpdate update(std::string_view type, ConditionStatus status, std::string_view reason,
                                   std::string message,
                                   std::optional<std::int64_t> observed_generation = std::nullopt) {
    return {std::string(type), status, std::string(reason), std::move(message), observed_generation};
}

// Sets a condition that exists only while it has a message, and removes it otherwise. Returns whether the
// condition is new or has changed, as api::set_condition() does.
inline bool set_while_told(api::Conditions& conditions, const api::ConditionUpdate& next, api::Time now) {
    if (!next.message.empty()) return api::set_condition(conditions, next, now);
    api::remove_condition(conditions, next.type);
    return false;
}

}  // namespace controllers
