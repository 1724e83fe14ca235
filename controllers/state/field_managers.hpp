// Who wrote a field of an object, as metadata.managedFields says. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace controllers {

// The field manager that wrote the label last, other than the operator itself; "": the API server does not
// say, as for a label that was removed.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
std::string label_writer(const boost::json::value& object, const std::string& label);

}  // namespace controllers
