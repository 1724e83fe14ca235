// MAC addresses for interfaces that get theirs from us.
#pragma once

#include <string>
#include <string_view>

namespace base {

// Returns `prefix` ("BC:24:11", one to five pairs or empty) completed by a digest of `key`, in upper case
// with colons. The address is locally administered and unicast unless the prefix decides otherwise.
std::string mac_address(std::string_view prefix, std::string_view key);

// Returns the MAC address in a text, in upper case; empty: none.
std::string find_mac_address(std::string_view text);

}  // namespace base
