// Reads the manifests that users copy from README, user guide and samples, as parts of a scenario.
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

// Reads files of the sources, given by their paths there: *.yaml as a whole, and the blocks of YAML in *.md.
// If an object occurs in two files, the fields of the second replace those of the first, as with kustomize.
// Skips kinds that are no part of a scenario. Throws std::runtime_error.
Manifests read_manifests(const std::vector<std::string>& files);

}  // namespace simulation
