// Reading files at start-up and where credentials rotate.
#pragma once

#include <cstddef>
#include <string>

namespace base {

// More than any kubeconfig, certificate or token takes.
inline constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;

// The whole content. Throws std::runtime_error naming the path and the system's reason, or `most`, the number
// of bytes that it may have.
std::string read_file(const std::string& path, std::size_t most = kMostFileBytes);

// The same of standard input if `file` is "-".
std::string read_input(const std::string& file, std::size_t most);

}  // namespace base
