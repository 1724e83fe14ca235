// ETags as BMCs really hand them out: doubled, weak because a proxy compresses, quoted twice.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/http.hpp"

namespace providers::redfish {

// The tag of a resource just read: "@odata.etag" of the body, else the header; empty: none.
std::string etag_of(const base::HttpResponse& response, const boost::json::object& body);
// What to send as If-Match, one after the other while the BMC answers 412 or 428: as given, as a strong tag,
// none; where no tag is known: none, then "*".
std::vector<std::string> etag_ladder(const std::string& etag);

}  // namespace providers::redfish
