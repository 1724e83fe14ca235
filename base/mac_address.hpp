// MAC addresses for interfaces that get theirs from us.
#pragma once

#include <string>
#include <string_view>

namespace base {

// `prefix` ("BC:24:11", one to five pairs or empty) completed by a digest of `key`; upper case, with colons.
// Locally administered and unicast where the prefix leaves that open.
std::string mac_address(std::string_view prefix, std::string_view key);

// The MAC address that stands in a text, in upper case; empty: none.
std::string find_mac_address(std::string_view text);

}  // namespace base
