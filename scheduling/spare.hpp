// Demand that is no pod: minimal nodes and spare room of pools, launched for after all pods.
#pragma once
#include <map>
#include <string>

#include "scheduling/pod_placer.hpp"
#include "scheduling/solver.hpp"

namespace scheduling {

struct SpareResult {
    std::map<std::size_t, std::string> reasons;  // by launch, for those without a pod
    std::vector<Cut> cuts;
    std::size_t unmet = 0;  // machines short
};

// `pods_on`: by slot how many pods will be there, without those of DaemonSets.
SpareResult add_spare(const Snapshot& snapshot, const Rows& rows, PodPlacer& placer,
                      std::vector<std::size_t> pods_on);

}  // namespace scheduling
