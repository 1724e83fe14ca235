// Parses JSON from untrusted peers with a memory limit, as one byte of text may need thirty bytes of memory.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace providers::foreign {

namespace json = boost::json;

// Limit of an answer in bytes. A Proxmox cluster with 10,000 machines lists them in about 6 MiB.
inline constexpr std::uint64_t kLongestAnswer = 8 * 1024 * 1024;
// Limit in bytes of the parsed value: twice what such a list needs.
inline constexpr std::size_t kMostMemory = 32 * 1024 * 1024;

class TooLarge : public std::runtime_error {
public:
    TooLarge();
};

// Returns nullopt if the text is not JSON or is nested more than 32 levels deep. Throws TooLarge if parsing
// needs more than kMostMemory. The value frees its memory when it is destroyed. Sets `stopped_at` to the
// first byte that is not JSON.
std::optional<json::value> parse(std::string_view text, bool allow_invalid_utf8 = false,
                                 std::size_t* stopped_at = nullptr);

}  // namespace providers::foreign
