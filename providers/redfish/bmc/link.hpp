// Links that a BMC gives are opaque, but whatever they say, requests and credentials go only to that BMC.
#pragma once

#include <optional>
#include <string>

#include "base/url.hpp"

namespace providers::redfish {

// Redirects may lead only to the origin itself; of other absolute links the path alone is used, because BMCs
// write their internal names into the Location of tasks and sessions.
enum class Origin { same, any };
// The request target for a link ("/redfish/v1/Systems/1") seen on `origin`; nullopt: it is not a link, or
// leads elsewhere.
std::optional<std::string> target_of(const std::string& link, const base::Url& origin, Origin allowed);

}  // namespace providers::redfish
