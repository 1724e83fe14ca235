// kubenodesmith completion SHELL, and the candidates that its scripts ask for.
#pragma once

#include <string>
#include <vector>

#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

void add_completion_command(CLI::App& app, ClientOptions& options, Command& chosen);
// __complete WORD...: what scripts call; not shown in the help.
void add_complete_command(CLI::App& app, ClientOptions& options, Command& chosen);

// What the last of the words may become, as kubectl expects it of a plugin: lines of a candidate, a tab and
// its description; then ":4", or ":0" where files are meant.
std::string candidates_for(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace kubenodesmith
