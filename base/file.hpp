// Reads files at start-up and where credentials rotate.
#pragma once

#include <cstddef>
#include <string>

namespace base {

// Limit of any kubeconfig, certificate or token.
inline constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;

// Returns the whole content. Throws std::runtime_error with the path and either the system's reason or the
// limit `most` in bytes.
std::string read_file(const std::string& path, std::size_t most = kMostFileBytes);

// Does the same, but reads standard input if `file` is "-".
std::string read_input(const std::string& file, std::size_t most);

}  // namespace base
