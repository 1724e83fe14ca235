// What the API server does not let this user do, and the role that would be enough.
#pragma once

#include <string>
#include <vector>

#include "api/resource.hpp"

namespace kubenodesmith {

struct Right {
    std::string verb;  // "list"
    api::Resource resource;
    std::string namespace_;  // empty: everywhere

    // "list nodesmithpools.kubenodesmith.parawell.cloud in namespace lab"
    std::string str() const;
};

// Says what is missing, and gives the ClusterRole and the binding by which an administrator grants all that
// is needed. `user` as the API server knows him; empty: not known. `hint` stands before the role.
std::string describe_missing(const std::vector<Right>& missing, const std::vector<Right>& needed,
                             const std::string& user, const std::string& hint);

}  // namespace kubenodesmith
