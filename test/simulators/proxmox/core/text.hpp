// Small text helpers that the simulator's files share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxmox_simulator {

std::vector<std::string> split(std::string_view text, char separator);
// Splits as Proxmox splits "-list" values: at commas, semicolons and white space, without empty items.
std::vector<std::string> split_list(std::string_view text);
std::string join(const std::vector<std::string>& items, std::string_view separator);
std::string lower(std::string_view text);
std::string trim(std::string_view text);
// Parses a decimal number with an optional sign. Returns nullopt if the text is anything else or the number
// does not fit.
std::optional<std::int64_t> to_integer(std::string_view text);
// Decodes only %XX; a malformed escape is kept as it is.
std::string percent_decode(std::string_view text);
std::string base64_decode(std::string_view text);
std::string sha1_hex(std::string_view text);
// Returns `width` upper-case hexadecimal digits.
std::string hex(std::uint64_t value, int width);
// Returns the bytes of "10G", "+1.5M" or "4096". Units are powers of 1024. Returns nullopt if the text is
// malformed.
std::optional<std::uint64_t> parse_size(std::string_view text);
// Returns the shortest exact form with a unit: 1073741824 is "1G".
std::string format_size(std::uint64_t bytes);

}  // namespace proxmox_simulator
