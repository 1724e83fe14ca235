// Named value formats ("pve-vmid", "dns-name", ...), written down from how Proxmox VE 9 behaves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proxmox_simulator {

// The complaint about `value`, nullopt if it is fine. `format` may end in -list (every item is checked) or
// -opt (an empty value is fine). Throws std::logic_error for a format that does not exist.
std::optional<std::string> check_format(std::string_view format, std::string_view value);

// Whole-value match of a Perl regular expression; compiled expressions are kept.
bool matches(std::string_view expression, std::string_view value);

}  // namespace proxmox_simulator
