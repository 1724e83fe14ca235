// A join by a command of the user's own, with placeholders for all that is known of machine and cluster.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "bootstrap/join.hpp"

namespace bootstrap {

using Placeholders = std::map<std::string, std::string>;

// By name; lists are joined by commas, what is not known is empty. Holds the token.
Placeholders placeholders(const JoinRequest& request);

// Every "{{ .Name }}" (blanks are free) becomes values["Name"]. Throws std::invalid_argument that names an
// unknown placeholder and the known ones; the message never holds a value.
std::string fill_placeholders(std::string_view text, const Placeholders& values);

// Throws std::invalid_argument.
JoinPlan plan_custom(const JoinRequest& request);

}  // namespace bootstrap
