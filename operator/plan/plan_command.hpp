// kubenodesmith plan [-f FILE...] [-o json]
#pragma once

#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

// Adds the command. Its exit codes are those of kubectl diff: 0 for no change, 1 for changes, 2 for a
// failure.
void add_plan_command(CLI::App& app, ClientOptions& options, Command& chosen);

}  // namespace kubenodesmith
