// Finds out who wrote a field of an object, from metadata.managedFields. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace controllers {

// Returns the last field manager that wrote the label, except the operator itself. "": the API server does
// not know, for example because the label was removed.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
std::string label_writer(const boost::json::value& object, const std::string& label);

}  // namespace controllers
