// What the API server demands of every object's metadata (k8s.io/apimachinery/pkg/util/validation).
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace fake {

// What is wrong with name and labels, "" if nothing is.
std::string metadata_fault(const boost::json::object& object);

// [PREFIX/]NAME as of labels, annotations, taints; VALUE as of labels.
bool is_qualified_name(const std::string& text);
bool is_label_value(const std::string& text);

}  // namespace fake
