// Checks the metadata of an object as the API server does (k8s.io/apimachinery/pkg/util/validation).
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace fake {

// Returns the fault of the name or the labels, or "" if there is none.
std::string metadata_fault(const boost::json::object& object);

// Reports whether the text is [PREFIX/]NAME, as in the keys of labels, annotations and taints. The next
// function checks a label's VALUE.
bool is_qualified_name(const std::string& text);
bool is_label_value(const std::string& text);

}  // namespace fake
