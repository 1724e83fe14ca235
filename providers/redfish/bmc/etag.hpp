// ETags as real BMCs use them: duplicated, weak because a proxy compresses, or quoted twice.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/http.hpp"

namespace providers::redfish {

// Returns the tag of a resource: "@odata.etag" of the body, else the header; empty: none.
std::string etag_of(const base::HttpResponse& response, const boost::json::object& body);
// Returns values for If-Match, to be tried while the BMC answers 412 or 428: the tag as given, a strong tag,
// none. If no tag is known: none, then "*".
std::vector<std::string> etag_ladder(const std::string& etag);

}  // namespace providers::redfish
