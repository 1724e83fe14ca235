// The workloads that the scheduling benchmark solves.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace bench {

using Pods = std::vector<std::shared_ptr<const api::Pod>>;

// Pods of a mix. `diverse` has a fifth each of plain pods, pods spread over zones, pods spread over nodes,
// pods that want to be in one zone with their like, and pods that want a node without their like; sizes and
// labels are drawn at random, always the same for the same number. The other mixes are its parts, and
// `preference`: equal pods that would like a zone, and to be apart from each other.
// The workload is that of Karpenter's scheduling benchmark (pkg/controllers/provisioning/scheduling).
// Throws std::invalid_argument.
Pods make_pods(const std::string& mix, std::size_t count);
std::vector<std::string> mixes();

// One pod in JSON per line; may be compressed with gzip. Throws std::runtime_error.
Pods read_pods(const std::string& path);

// One pool with 400 machine shapes of 1 to 400 CPUs in three zones, and nothing else.
scheduling::Snapshot empty_cluster();
// The same with a thousand nodes on which 30,000 pods run.
scheduling::Snapshot busy_cluster();

}  // namespace bench
