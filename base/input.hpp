// What a command is told to read: a file, or standard input.
#pragma once

#include <optional>
#include <string>

namespace base {

// The whole of the file, "-" for standard input; nullopt: it cannot be read.
std::optional<std::string> read_input(const std::string& file);

}  // namespace base
