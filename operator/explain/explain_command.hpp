// kubenodesmith explain pod|node|claim NAME
#pragma once

#include <functional>

namespace CLI {  // NOLINT(readability-identifier-naming): the library calls itself so
class App;
}

namespace kubenodesmith {

struct Options;

// Adds the subcommand; when it is chosen, `chosen` becomes what to run. Exit codes: 0, or 2 with a message on
// standard error.
void add_explain_command(CLI::App& app, std::function<int(const Options&)>& chosen);

}  // namespace kubenodesmith
