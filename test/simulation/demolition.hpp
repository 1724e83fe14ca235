// Somebody who deletes everything in the managed namespace, in any order. They delete the objects one after
// the other, as `kubectl delete -f` of a folder or a GitOps prune does, or the namespace itself. Deleting the
// namespace also deletes the RoleBindings that give the operator its rights on Secrets. New objects are then
// refused there.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

std::unique_ptr<Outsider> make_demolition(World& world);

}  // namespace simulation
