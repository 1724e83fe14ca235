// What of an object may leave the cluster in a support bundle.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>

namespace kubenodesmith {

// Takes out of an object of ours what may be secret: values whose names say so, options of VMs, settings of
// other programs, credentials in URLs, annotations of others, and who wrote which field.
void redact(boost::json::value& object);
// The text without credentials in URLs.
std::string without_credentials(std::string text);

// Only what helps: no environment, arguments or annotations, which hold secrets of others.
boost::json::object excerpt_of_pod(const boost::json::value& pod);
boost::json::object excerpt_of_node(const boost::json::value& node);

}  // namespace kubenodesmith
