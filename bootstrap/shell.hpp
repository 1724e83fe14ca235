// Words of shell commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bootstrap {

// As one word of a shell command.
std::string quoted(std::string_view text);

// A command of these arguments as a line, without its end.
std::string command_line(const std::vector<std::string>& arguments);

}  // namespace bootstrap
