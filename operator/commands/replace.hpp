// kubenodesmith replace CLAIM
#pragma once

#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

void add_replace_command(CLI::App& app, ClientOptions& options, Command& chosen);

}  // namespace kubenodesmith
