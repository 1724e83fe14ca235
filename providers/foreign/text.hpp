// What others wrote, made fit for a condition, an Event or a log line.
#pragma once

#include <string>
#include <string_view>

namespace providers::foreign {

// The first line that is not blank, at most 256 characters of it with "..." for the rest: without control
// characters, characters that nobody sees or that change the order of others, and what is not UTF-8.
std::string shown(std::string_view text);

}  // namespace providers::foreign
