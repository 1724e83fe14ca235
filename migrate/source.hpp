// Reading what is migrated: one file in any of the shapes that the projects document.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <string_view>

namespace kubenodesmith::migrate {

// Of what is read line by line. Regular expressions take stack for each character.
inline constexpr std::size_t kLongestLine = 4096;

// The keys of a file that is one of
//   * a YAML document (a config file, Helm values),
//   * KEY=value lines (an .env file),
//   * Kubernetes manifests or `kubectl get -o yaml` output: the data of its ConfigMaps and Secrets and the
//     env of its containers, other objects are skipped. A ConfigMap entry that holds a whole file (several
//     lines of KEY=value, of YAML mappings or of Python assignments) stands for that file's keys.
// Throws std::invalid_argument saying what is wrong and where.
boost::json::object read_settings(std::string_view text);

// The literals of a Python module of assignments, as in `name = 'text'  # comment`. os.environ["X"] takes its
// value from `environment`; inside try/except, an assignment from the environment wins over the literal if it
// is there. Throws std::invalid_argument that names the line of an expression that is no literal.
boost::json::object read_python_settings(std::string_view text, const boost::json::object& environment);

}  // namespace kubenodesmith::migrate
