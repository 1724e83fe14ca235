// The subcommand "kubenodesmith migrate SOURCE FILE".
#pragma once

#include <functional>

namespace CLI {  // NOLINT(readability-identifier-naming): the library calls itself so
class App;
}

namespace kubenodesmith {
struct ClientOptions;
}

namespace kubenodesmith::migrate {

// Adds the subcommand. If it is chosen, `chosen` becomes the function to run. It returns the exit code: 0, or
// 1 with a message on standard error.
void add_command(CLI::App& app, std::function<int(const ClientOptions&)>& chosen);

}  // namespace kubenodesmith::migrate
