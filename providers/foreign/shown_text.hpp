// Makes foreign text fit for a condition, an Event or a log line.
#pragma once

#include <string>
#include <string_view>

namespace providers::foreign {

// Returns the first line that is not blank. A line above 256 characters loses its middle to "...", as its end
// usually names the cause. Removes control characters, invisible and reordering characters, and invalid
// UTF-8.
std::string shown(std::string_view text);
// Joins all lines that are not blank. A result above `most` characters keeps its last characters after "...",
// as a program's last output usually says why it failed.
std::string shown_end(std::string_view text, std::size_t most);

}  // namespace providers::foreign
