// Reads YAML like Kubernetes' tools: the same values as JSON, with YAML 1.1's booleans.
#pragma once
#include <boost/json/value.hpp>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace api {

// YamlError has the line and column in its message.
struct YamlError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// YamlBounds limits the cost of a text by any author. Documents count as values; values and bytes of an
// anchor count again for each alias.
struct YamlBounds {
    std::size_t bytes = std::size_t{4} << 20;
    std::size_t nodes = 100'000;
    std::size_t brackets = 100'000;  // number of the characters '[', '{' and ',', wherever they are
    std::size_t depth = 100;
};

// Limits of an object's content: the API server accepts no more.
inline constexpr YamlBounds kObjectBounds{.bytes = std::size_t{1} << 20};

// Returns all documents of a file without empty ones. Anchors, aliases and merge keys ("<<") are resolved.
// Plain scalars become null, booleans, integers, floats or strings as in sigs.k8s.io/yaml. Throws YamlError,
// also for an alias inside its own anchor, and for two anchors with the same name.
std::vector<boost::json::value> parse_yaml_documents(std::string_view text, const YamlBounds& bounds = {});

// Returns the only document of the text, or null. Throws YamlError if there are several.
boost::json::value parse_yaml(std::string_view text, const YamlBounds& bounds = {});

}  // namespace api
