// Builds a join as one shell script, for machines that are controlled through their guest agent.
#pragma once

#include <string>
#include <string_view>

#include "bootstrap/join.hpp"

namespace bootstrap {

// Returns a script that carries out the plan once per `id` (letters, digits and dashes). If it is started
// again, it waits for the first run and returns its output and exit status. So its starter may have forgotten
// the first run. It contains the plan's secrets: pass it to a shell on standard input, not as an argument.
std::string agent_script(const JoinPlan& plan, std::string_view id);

}  // namespace bootstrap
