// A join as one shell script, for machines that are told what to do through their guest agent.
#pragma once

#include <string>
#include <string_view>

#include "bootstrap/join.hpp"

namespace bootstrap {

// Does what the plan says, once per `id` (letters, digits and dashes): started again, it waits for the first
// run and ends with its output and exit status, so whoever started it may have forgotten. Holds what the plan
// holds: give it to a shell on standard input, not as an argument.
std::string agent_script(const JoinPlan& plan, std::string_view id);

}  // namespace bootstrap
