// Finds out who wrote to an object, from metadata.managedFields. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

namespace controllers {

// Returns the last field manager that wrote the label, except the operator itself. "": the API server does
// not know, for example because the label was removed.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
std::string label_writer(const boost::json::value& object, const std::string& label);

// Returns the field managers of a Node that a cluster does not have anyway, each once: neither the kubelet
// nor the controller manager, kubectl or the operator itself.
std::vector<std::string> unusual_managers(const boost::json::value& node);

}  // namespace controllers
