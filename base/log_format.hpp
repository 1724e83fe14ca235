// The text of a log line without its time and level: pure functions, so that quoting is testable.
#pragma once

#include <string>
#include <string_view>

#include "base/log.hpp"

namespace base::log {

// Created machine node_claim=default/a took=1.5; values with spaces, quotes or control characters are quoted.
std::string format_text(std::string_view message, Fields fields);
// "message":"Created machine","node_claim":"default/a": the members of a JSON object, without its braces.
std::string format_json(std::string_view message, Fields fields);

}  // namespace base::log
