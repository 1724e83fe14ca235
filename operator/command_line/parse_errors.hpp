// What is wrong with a command line, in plain words.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library calls itself so
class App;
class ParseError;
}  // namespace CLI

namespace kubenodesmith {

// One line that names the word, says what would be right, and where more is said.
std::string describe(const CLI::App& app, const CLI::ParseError& error);
// The command that was parsed last: "kubectl nodesmith host add", or the program itself.
const CLI::App& parsed_command(const CLI::App& app);
std::string full_name(const CLI::App& command);

}  // namespace kubenodesmith
