// kubenodesmith host add: a range of BMCs as NodeSmithHosts in YAML.
#pragma once

#include <string>
#include <vector>

#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

void add_host_command(CLI::App& app, ClientOptions& options, Command& chosen);

// "rack1-[01-03]" is rack1-01, rack1-02 and rack1-03; "10.0.0.17-10.0.0.19" are three addresses; other text
// is itself. Throws UsageError for what is no range, and for more than 1000.
std::vector<std::string> expand_range(const std::string& pattern);

}  // namespace kubenodesmith
