// Quotes words of shell commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bootstrap {

// Returns the text as one word of a shell command.
std::string quoted(std::string_view text);

// Returns a command line of these arguments, without a newline.
std::string command_line(const std::vector<std::string>& arguments);

}  // namespace bootstrap
