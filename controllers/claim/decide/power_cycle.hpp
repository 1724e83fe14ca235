// Reasons of the condition PowerCycled: False while it is under way, True when it has ended.
#pragma once

#include <string_view>

namespace controllers::claim {

inline constexpr std::string_view kSwitchingOff = "SwitchingOff";
inline constexpr std::string_view kSwitchingOn = "SwitchingOn";
inline constexpr std::string_view kSwitchedOn = "SwitchedOn";
inline constexpr std::string_view kPowerFailed = "PowerFailed";

}  // namespace controllers::claim
