// Lists taints that widespread programs put on new Nodes and remove once they run there. The table names the
// program for people; other taints are treated in the same way. docs/joining.md has the same list.
#pragma once

#include <string>
#include <string_view>

namespace controllers {

// Returns the program that uses the key, for example "the agent of Cilium"; empty: unknown.
std::string known_owner_of_taint(std::string_view key);

}  // namespace controllers
