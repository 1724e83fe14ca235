// The gzip format (RFC 1952), in which BMCs compress answers. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace providers::redfish {

// Returns nullopt if it is not gzip, is damaged, or its text is longer than `most`.
std::optional<std::string> gunzip(std::string_view compressed, std::size_t most);

}  // namespace providers::redfish
