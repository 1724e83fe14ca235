// Reading files at start-up and where credentials rotate.
#pragma once

#include <string>

namespace base {

// The whole content. Throws std::runtime_error naming the path and the system's reason.
std::string read_file(const std::string& path);

}  // namespace base
