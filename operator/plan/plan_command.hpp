// kubenodesmith plan [-f FILE...] [-o json]
#pragma once

#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

// Its exit code is that of kubectl diff: 0 nothing would change, 1 something would, 2 a failure.
void add_plan_command(CLI::App& app, ClientOptions& options, Command& chosen);

}  // namespace kubenodesmith
