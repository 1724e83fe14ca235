// The `Date` header of HTTP answers (RFC 9110, 5.6.7): GMT, whole seconds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace base {

// Returns nullopt if it is no such date.
std::optional<WallTime> parse_http_date(std::string_view text);
std::string format_http_date(WallTime time);

}  // namespace base
