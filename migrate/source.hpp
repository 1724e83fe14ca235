// Reads the source of a migration: one file in any form that the projects document.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <string_view>

namespace kubenodesmith::migrate {

// Limit of a line in bytes. Regular expressions use stack for each character.
inline constexpr std::size_t kLongestLine = 4096;

// Returns the keys of a file in one of these forms:
//   - a YAML document (a config file, Helm values),
//   - KEY=value lines (an .env file),
//   - Kubernetes manifests or `kubectl get -o yaml` output: the data of its ConfigMaps and Secrets and the
//     env of its containers. Other objects are skipped. A ConfigMap entry may contain a whole file with
//     several lines of KEY=value, of YAML mappings or of Python assignments. It is replaced by that file's
//     keys.
// Throws std::invalid_argument with the error and its place.
boost::json::object read_settings(std::string_view text);

// Returns the literals of a Python module of assignments, e.g. `name = 'text'  # comment`. os.environ["X"]
// gets its value from `environment`. Inside try/except, an assignment from the environment overrides the
// literal if the variable exists. Throws std::invalid_argument with the line of an expression that is no
// literal.
boost::json::object read_python_settings(std::string_view text, const boost::json::object& environment);

}  // namespace kubenodesmith::migrate
