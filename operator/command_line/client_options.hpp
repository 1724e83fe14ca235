// The flags that commands share with kubectl: which cluster, as whom, in which namespace.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kube/config.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library calls itself so
class App;
}

namespace kubenodesmith {

struct ClientOptions {
    kube::ConfigOptions cluster;
    std::vector<std::string> namespaces;  // --namespaces; see controllers::managed_namespaces_of()
    std::string namespace_;               // -n; empty: not given
    bool all_namespaces = false;          // -A
};

using Command = std::function<int(const ClientOptions&)>;  // returns the exit code
// Adds a command to the program; when it is chosen, `chosen` becomes what to run.
using AddCommand = std::function<void(CLI::App& app, ClientOptions& options, Command& chosen)>;

// --kubeconfig, --context, --cluster, --user, --as, --as-group and --request-timeout.
void add_cluster_flags(CLI::App& command, ClientOptions& options);
// -n, -A and --namespaces. `meaning` says what the namespace is for.
void add_namespace_flags(CLI::App& command, ClientOptions& options, const std::string& meaning);
// --namespaces alone: what the operator manages.
void add_managed_flag(CLI::App& command, ClientOptions& options);

// Adds an option whose value is one of the words; any other value is refused in words that name them. The
// option's type_name() has them, with "|" between them.
void add_choice(CLI::App& command, const std::string& name, std::string& target,
                const std::vector<std::string>& words, const std::string& help);

}  // namespace kubenodesmith
