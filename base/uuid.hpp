// UUIDs as text (RFC 4122), and the two byte orders in which firmware writes them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace base {

using UuidBytes = std::array<unsigned char, 16>;

// Parses 8-4-4-4-12 hexadecimal digits in either case; nullopt: the text is not a UUID.
std::optional<UuidBytes> parse_uuid(std::string_view text);
// Returns lower case.
std::string write_uuid(const UuidBytes& bytes);

// Reports whether both are equal ignoring case, also if one side has the first three fields in the other byte
// order. Some firmware and BMCs disagree about it (Supermicro X11; DSP0134 section 7.2.1 describes the two
// orders).
bool same_uuid(std::string_view a, std::string_view b);
std::string byte_swapped(std::string_view uuid);
// Returns false for invalid UUIDs and for the placeholders of unprogrammed boards: all 0, all F.
bool identifies(std::string_view uuid);

}  // namespace base
