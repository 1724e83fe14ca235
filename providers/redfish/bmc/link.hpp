// Links from a BMC are opaque. Whatever they contain, requests and credentials are only sent to that BMC.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/url.hpp"

namespace providers::redfish {

// Origin says which links are allowed. Redirects may only lead to the origin itself. For other absolute links
// the path alone is used, as BMCs put internal names into the Location of tasks and sessions.
enum class Origin { same, any };
// Returns the request target of a link ("/redfish/v1/Systems/1") seen on `origin`. nullopt: it is no link, or
// leads elsewhere.
std::optional<std::string> target_of(const std::string& link, const base::Url& origin, Origin allowed);

// Returns the path of a link, which tells resources apart: without origin, fragment and final slashes.
std::string path_of_link(const std::string& link);
// Returns links to different resources, in their order. BMCs list some resources in several places.
std::vector<std::string> distinct(const std::vector<std::string>& links);

}  // namespace providers::redfish
