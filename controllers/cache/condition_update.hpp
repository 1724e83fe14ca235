// One condition of a status, as a pure function of a reconciler has found it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/meta.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers {

inline api::ConditionUpdate update(std::string_view type, ConditionStatus status, std::string_view reason,
                                   std::string message) {
    return {std::string(type), status, std::string(reason), std::move(message), std::nullopt};
}

}  // namespace controllers
