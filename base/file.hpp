// Reading files at start-up and where credentials rotate.
#pragma once

#include <optional>
#include <string>

namespace base {

// The whole content. Throws std::runtime_error naming the path and the system's reason.
std::string read_file(const std::string& path);

// The whole of the file, "-" for standard input; nullopt: it cannot be read.
std::optional<std::string> read_input(const std::string& file);

}  // namespace base
