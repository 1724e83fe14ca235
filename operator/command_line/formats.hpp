// Output formats of commands: text for people, JSON and YAML.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library calls itself so
class App;
}

namespace kubenodesmith {

// Name and version of the schema of all documents that commands print. Later versions may add fields.
// Existing fields keep their names and meanings.
inline constexpr const char* kOutputVersion = "cli.kubenodesmith.parawell.cloud/v1alpha1";

// Adds -o, which accepts json, yaml and the format for people. The initial value of `output` names that
// format; "table" if it is empty.
void add_output_flag(CLI::App& command, std::string& output);

// Returns the output in the requested format: `for_people()` or `document()`. In text for people, control
// characters are replaced, as they could manipulate the terminal.
std::string printed(const std::string& output, const std::function<std::string()>& for_people,
                    const std::function<boost::json::object()>& document);

// Returns a document of this kind without content.
boost::json::object document_of_kind(const char* kind);
// Writes JSON with two spaces per level, and whole numbers without an exponent.
std::string to_pretty_json(const boost::json::value& value);

}  // namespace kubenodesmith
