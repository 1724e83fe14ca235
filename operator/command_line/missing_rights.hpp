// Describes rights that the user lacks, and a role that would suffice.
#pragma once

#include <string>
#include <vector>

#include "api/resource.hpp"

namespace kubenodesmith {

struct Right {
    std::string verb;  // for example "list"
    api::Resource resource;
    std::string namespace_;  // empty: all namespaces

    // Returns, for example, "list nodesmithpools.kubenodesmith.parawell.cloud in namespace lab".
    std::string str() const;
};

// Lists the missing rights. Adds the ClusterRole and the binding with which an administrator can grant all
// needed rights. `user` is the user's name at the API server; empty: unknown. `hint` is printed before the
// role.
std::string describe_missing(const std::vector<Right>& missing, const std::vector<Right>& needed,
                             const std::string& user, const std::string& hint);

}  // namespace kubenodesmith
