// What others wrote, made fit for a condition, an Event or a log line.
#pragma once

#include <string>
#include <string_view>

namespace providers::foreign {

// The first line that is not blank, at most 256 characters of it with "..." for its middle, as its end mostly
// says the cause: without control characters, characters that nobody sees or that change the order of others,
// and what is not UTF-8.
std::string shown(std::string_view text);
// All lines that are not blank as one, of more than `most` characters the last ones with "..." before them:
// where a program's output ends it says why it failed.
std::string shown_end(std::string_view text, std::size_t most);

}  // namespace providers::foreign
