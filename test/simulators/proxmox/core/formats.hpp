// Named value formats ("pve-vmid", "dns-name", ...), written down from the behaviour of Proxmox VE 9.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proxmox_simulator {

// Returns the complaint about `value`, or nullopt if it is valid. `format` may end in -list (every item is
// checked) or -opt (an empty value is valid). Throws std::logic_error for a format that does not exist.
std::optional<std::string> check_format(std::string_view format, std::string_view value);

// Reports whether the whole value matches a Perl regular expression. Compiled expressions are cached.
bool matches(std::string_view expression, std::string_view value);

}  // namespace proxmox_simulator
