// YAML as Kubernetes' tools read it: the same values as JSON, with YAML 1.1's idea of booleans.
#pragma once
#include <boost/json/value.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace api {

// The message says the line and column.
struct YamlError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// All documents of a file, empty ones left out. Anchors, aliases and merge keys ("<<") are resolved.
// Plain scalars become null, booleans, integers, floats or strings as sigs.k8s.io/yaml resolves them.
// Throws YamlError.
std::vector<boost::json::value> parse_yaml_documents(std::string_view text);

// The only document of the text, null if there is none. Throws YamlError if there are several.
boost::json::value parse_yaml(std::string_view text);

}  // namespace api
