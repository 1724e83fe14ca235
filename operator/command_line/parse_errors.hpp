// Error messages for invalid command lines.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library calls itself so
class App;
class ParseError;
}  // namespace CLI

namespace kubenodesmith {

// Returns a message that names the wrong word and what would be right, and refers to --help.
std::string describe(const CLI::App& app, const CLI::ParseError& error);
// Returns the innermost command that was parsed, for example `host add`, or the program itself.
const CLI::App& parsed_command(const CLI::App& app);
// Returns, for example, "kubectl nodesmith host add".
std::string full_name(const CLI::App& command);

}  // namespace kubenodesmith
