// Somebody who deletes everything of the managed namespace, in any order: the objects one after the other, as
// `kubectl delete -f` of a folder or a GitOps prune does, or the namespace itself. Then the RoleBindings that
// give the operator its rights on Secrets go as well, and nothing new may be made there.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_demolition(World& world);

}  // namespace simulation
