// JSON of others, read within bounds of memory: a byte of text may cost thirty of memory.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace providers::foreign {

namespace json = boost::json;

// The longest answer that is read: a Proxmox cluster of 10,000 machines lists them in about 6 MiB.
inline constexpr std::uint64_t kLongestAnswer = 8 * 1024 * 1024;
// What such a list takes when it is read, with as much to spare.
inline constexpr std::size_t kMostMemory = 32 * 1024 * 1024;

class TooLarge : public std::runtime_error {
public:
    TooLarge();
};

// Nullopt for what is no JSON or is nested more than 32 deep. Throws TooLarge where the value would take more
// than kMostMemory while it is read. The value frees its memory when it goes. `stopped_at` is set to the byte
// from which on it is no JSON.
std::optional<json::value> parse(std::string_view text, bool allow_invalid_utf8 = false,
                                 std::size_t* stopped_at = nullptr);

}  // namespace providers::foreign
