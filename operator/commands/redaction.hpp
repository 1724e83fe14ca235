// Removes secrets from objects for the support bundle.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>

namespace kubenodesmith {

// Removes possible secrets from one of our objects: values whose names sound like secrets, options of VMs,
// settings of other programs and credentials in URLs. It also removes annotations of other programs and
// managedFields.
void redact(boost::json::value& object);
// Returns the text without credentials in URLs.
std::string without_credentials(std::string text);

// Returns only useful fields. Environment, arguments and annotations are left out, as they may contain
// secrets of others.
boost::json::object excerpt_of_pod(const boost::json::value& pod);
boost::json::object excerpt_of_node(const boost::json::value& node);

}  // namespace kubenodesmith
