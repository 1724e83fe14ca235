// Joins by a command of the user, with placeholders for all known data of machine and cluster.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "bootstrap/join.hpp"

namespace bootstrap {

using Placeholders = std::map<std::string, std::string>;

// Returns values by name; lists are joined by commas, and unknown ones are empty. Contains the token.
Placeholders placeholders(const JoinRequest& request);

// Replaces every "{{ .Name }}" (with any blanks) by values["Name"]. Throws std::invalid_argument that names
// an unknown placeholder and the known ones; the message never contains a value.
std::string fill_placeholders(std::string_view text, const Placeholders& values);

// Throws std::invalid_argument.
JoinPlan plan_custom(const JoinRequest& request);

}  // namespace bootstrap
