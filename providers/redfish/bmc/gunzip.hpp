// The gzip format (RFC 1952), as BMCs compress what they answer. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace providers::redfish {

// nullopt: it is no gzip, is damaged, or its text is longer than `most`.
std::optional<std::string> gunzip(std::string_view compressed, std::size_t most);

}  // namespace providers::redfish
