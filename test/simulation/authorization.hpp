// The rights that the API server grants to operators: config/rbac as shipped, for the namespaces of the
// simulation.
#pragma once

#include <optional>
#include <set>

#include "base/http.hpp"
#include "test/support/rights.hpp"

namespace simulation {

class Authorization {
public:
    explicit Authorization(const fake::Store& store);

    // Returns the refusal of a request that needs a right which the shipped roles do not grant.
    std::optional<base::HttpResponse> refuse(const base::HttpRequest& request);
    // Returns the rights that all requests needed. A right has a name where the roles grant it for certain
    // names only.
    const std::set<fake::Right>& needed() const { return needed_; }
    // Returns the needed rights that were missing.
    const std::set<fake::Right>& missing() const { return missing_; }

private:
    const fake::Store& store_;
    fake::Rights rights_;
    std::set<fake::Right> needed_;
    std::set<fake::Right> missing_;
};

}  // namespace simulation
