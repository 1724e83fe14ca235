// kubenodesmith version
#pragma once

#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

void add_version_command(CLI::App& app, ClientOptions& options, Command& chosen, const std::string& version,
                         const std::string& commit);

}  // namespace kubenodesmith
