// Flags that commands share with kubectl: the cluster, the user and the namespace.
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

    // Returns the only namespace that was asked for; empty: all.
    std::string only_namespace() const { return all_namespaces ? std::string() : namespace_; }
};

using Command = std::function<int(const ClientOptions&)>;  // returns the exit code
// Adds a command to the program. If the user selects it, parsing sets `chosen` to the function to run.
using AddCommand = std::function<void(CLI::App& app, ClientOptions& options, Command& chosen)>;

// Adds --kubeconfig, --context, --cluster, --user, --as, --as-group and --request-timeout.
void add_cluster_flags(CLI::App& command, ClientOptions& options);
// Adds -n, -A and --namespaces. `meaning` is the help text of -n.
void add_namespace_flags(CLI::App& command, ClientOptions& options, const std::string& meaning);
// Adds only --namespaces, which lists the namespaces that the operator manages.
void add_managed_flag(CLI::App& command, ClientOptions& options);

// Adds -f, which may be repeated: files to read objects from instead of a cluster.
void add_file_flag(CLI::App& command, std::vector<std::string>& files);

// Adds an option that accepts only these words. The error for another value lists them. The option's
// type_name() contains the words, separated by "|".
void add_choice(CLI::App& command, const std::string& name, std::string& target,
                const std::vector<std::string>& words, const std::string& help);

}  // namespace kubenodesmith
