// Writes YAML that every parser reads alike: each string is quoted, and keys keep their order.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace bootstrap {

std::string to_yaml(const boost::json::value& value);

}  // namespace bootstrap
