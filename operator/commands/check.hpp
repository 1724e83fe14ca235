// kubenodesmith check: whether this cluster is ready for the operator, and the operator in it.
#pragma once

#include <string>
#include <vector>

#include "api/resource.hpp"
#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

void add_check_command(CLI::App& app, ClientOptions& options, Command& chosen);

// What the operator's account must be allowed in all namespaces; the same as in config/rbac/role.yaml.
struct NeededRight {
    std::string verb;
    std::string group;
    std::string resource;  // "pods/eviction" of a subresource
    bool operator==(const NeededRight&) const = default;
    auto operator<=>(const NeededRight&) const = default;
};
const std::vector<NeededRight>& rights_of_operator();

}  // namespace kubenodesmith
