// kubenodesmith plan [-f FILE...] [-o json]
#pragma once

#include <functional>

namespace CLI {  // NOLINT(readability-identifier-naming): the library calls itself so
class App;
}

namespace kubenodesmith {

struct Options;

// Adds the subcommand; when it is chosen, `chosen` becomes what to run. Its exit code is that of kubectl
// diff: 0 nothing would change, 1 something would, 2 a failure with a message on standard error.
void add_plan_command(CLI::App& app, std::function<int(const Options&)>& chosen);

}  // namespace kubenodesmith
