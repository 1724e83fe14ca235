// The manifests that users copy: README, user guide and samples, read as they stand, as parts of a scenario.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "test/simulation/cluster/workloads.hpp"

namespace simulation {

struct Manifests {
    std::vector<NodeSmithProvider> providers;
    std::vector<NodeSmithPool> pools;
    std::optional<NodeSmithControlPlane> control_plane;
    std::vector<Deployment> deployments;
    std::vector<api::PodDisruptionBudget> budgets;
};

// Of files of the sources, by their paths there: *.yaml as a whole, of *.md the blocks of YAML. An object
// that stands in two of them is that of the first with the fields of the second laid over it, as by
// kustomize. Kinds that make no part of a scenario are passed over. Throws std::runtime_error.
Manifests read_manifests(const std::vector<std::string>& files);

}  // namespace simulation
