// kubenodesmith pause and resume: change the mode of a control plane.
#pragma once

#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

void add_pause_command(CLI::App& app, ClientOptions& options, Command& chosen);
void add_resume_command(CLI::App& app, ClientOptions& options, Command& chosen);

}  // namespace kubenodesmith
