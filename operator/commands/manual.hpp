// kubenodesmith man: manual pages of all commands, made from the same descriptions as the help.
#pragma once

#include <map>
#include <string>

#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

void add_man_command(CLI::App& app, ClientOptions& options, Command& chosen);

// Returns troff sources by page name, for example "kubenodesmith" or "kubenodesmith-plan".
std::map<std::string, std::string> manual_pages(const CLI::App& app);

}  // namespace kubenodesmith
