// kubenodesmith host add: writes NodeSmithHosts for a range of BMCs as YAML.
#pragma once

#include <string>
#include <vector>

#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

void add_host_command(CLI::App& app, ClientOptions& options, Command& chosen);

// Returns the elements of a range. "rack1-[01-03]" is rack1-01, rack1-02 and rack1-03. "10.0.0.17-10.0.0.19"
// is three addresses. Text without a range is the only element. Throws UsageError for an invalid range, and
// for more than 1000 elements.
std::vector<std::string> expand_range(const std::string& pattern);

}  // namespace kubenodesmith
