// YAML as Kubernetes' tools read it: the same values as JSON, with YAML 1.1's idea of booleans.
#pragma once
#include <boost/json/value.hpp>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace api {

// The message says the line and column.
struct YamlError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What a text may cost, whoever wrote it. Documents count as values; values and bytes of an anchor count
// again for each alias.
struct YamlBounds {
    std::size_t bytes = std::size_t{4} << 20;
    std::size_t nodes = 100'000;
    std::size_t brackets = 100'000;  // of the signs '[', '{' and ',', wherever they stand
    std::size_t depth = 100;
};

// Of what an object in the API server holds, which takes no more than this.
inline constexpr YamlBounds kObjectBounds{.bytes = std::size_t{1} << 20};

// All documents of a file, empty ones left out. Anchors, aliases and merge keys ("<<") are resolved.
// Plain scalars become null, booleans, integers, floats or strings as sigs.k8s.io/yaml resolves them.
// Throws YamlError, also for an alias within its own anchor, and for a name that two anchors have.
std::vector<boost::json::value> parse_yaml_documents(std::string_view text, const YamlBounds& bounds = {});

// The only document of the text, null if there is none. Throws YamlError if there are several.
boost::json::value parse_yaml(std::string_view text, const YamlBounds& bounds = {});

}  // namespace api
