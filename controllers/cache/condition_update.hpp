// One condition of a status, as a pure function of a reconciler has found it.
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

// Sets a condition that is there only while it has something to say, and removes it otherwise. Returns
// whether it is new or says something new, as api::set_condition() does.
inline bool set_while_told(api::Conditions& conditions, const api::ConditionUpdate& next, api::Time now) {
    if (!next.message.empty()) return api::set_condition(conditions, next, now);
    api::remove_condition(conditions, next.type);
    return false;
}

}  // namespace controllers
