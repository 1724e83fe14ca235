// kubenodesmith check: reports whether the cluster and the operator in it are ready.
#pragma once

#include <string>
#include <vector>

#include "api/resource.hpp"
#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

void add_check_command(CLI::App& app, ClientOptions& options, Command& chosen);

// NeededRight is a right that the operator's account needs in all namespaces, as in config/rbac/role.yaml.
struct NeededRight {
    std::string verb;
    std::string group;
    std::string resource;  // with a subresource: "pods/eviction"
    bool operator==(const NeededRight&) const = default;
    auto operator<=>(const NeededRight&) const = default;
};
const std::vector<NeededRight>& rights_of_operator();

}  // namespace kubenodesmith
