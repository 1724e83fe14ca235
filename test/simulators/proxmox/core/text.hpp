// Small text helpers shared by the simulator's files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxmox_simulator {

std::vector<std::string> split(std::string_view text, char separator);
// Splits as Proxmox splits "-list" values: at commas, semicolons and white space, dropping empty items.
std::vector<std::string> split_list(std::string_view text);
std::string join(const std::vector<std::string>& items, std::string_view separator);
std::string lower(std::string_view text);
std::string trim(std::string_view text);
// Decimal with an optional sign and nothing else; nullopt if it is not that or does not fit.
std::optional<std::int64_t> to_integer(std::string_view text);
// %XX only; a malformed escape is kept as it is.
std::string percent_decode(std::string_view text);
std::string base64_decode(std::string_view text);
std::string sha1_hex(std::string_view text);
// `width` upper-case hexadecimal digits.
std::string hex(std::uint64_t value, int width);
// "10G", "+1.5M", "4096": bytes; units are powers of 1024. nullopt if malformed.
std::optional<std::uint64_t> parse_size(std::string_view text);
// The shortest exact form with a unit: 1073741824 is "1G".
std::string format_size(std::uint64_t bytes);

}  // namespace proxmox_simulator
