// Adds demand without pods: minimal nodes and spare room of pools, launched after all pods.
#pragma once
#include <map>
#include <string>

#include "scheduling/pod_placer.hpp"
#include "scheduling/solver.hpp"

namespace scheduling {

struct SpareResult {
    std::map<std::size_t, std::string> reasons;  // by launch, for launches without a pod
    std::vector<Cut> cuts;
    std::size_t unmet = 0;  // missing machines
};

// `pods_on` has the number of pods by slot, without those of DaemonSets.
SpareResult add_spare(const Snapshot& snapshot, const Rows& rows, PodPlacer& placer,
                      std::vector<std::size_t> pods_on);

}  // namespace scheduling
