// The forms in which commands print what they found: for people, as JSON and as YAML.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library calls itself so
class App;
}

namespace kubenodesmith {

// The name and version of the schema of all documents that commands print. Fields may be added; one that is
// there keeps its name and meaning.
inline constexpr const char* kOutputVersion = "cli.kubenodesmith.parawell.cloud/v1alpha1";

// -o: "table" (or what `people` calls it), json or yaml.
void add_output_flag(CLI::App& command, std::string& output);

// The text in the form that was asked for: `for_people` or the document. Control characters of others do not
// reach a terminal.
std::string printed(const std::string& output, const std::function<std::string()>& for_people,
                    const std::function<boost::json::object()>& document);

// A document of this kind that has yet to get its content.
boost::json::object document_of_kind(const char* kind);
// JSON with two blanks for each level, and whole numbers without an exponent.
std::string to_pretty_json(const boost::json::value& value);

}  // namespace kubenodesmith
