// The workloads of the scheduling benchmark.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace bench {

using Pods = std::vector<std::shared_ptr<const api::Pod>>;

// Returns the pods of a mix. `diverse` has a fifth each of these: plain pods, pods spread over zones, pods
// spread over nodes, pods in one zone with similar pods, and pods on a node without similar pods. Sizes and
// labels are random, but always the same for the same number. The other mixes are its parts, and
// `preference`: equal pods that prefer a zone, and to be apart from each other. The workload is that of
// Karpenter's scheduling benchmark (pkg/controllers/provisioning/scheduling). Throws std::invalid_argument.
Pods make_pods(const std::string& mix, std::size_t count);
std::vector<std::string> mixes();

// Reads one pod in JSON per line; the file may be compressed with gzip. Throws std::runtime_error.
Pods read_pods(const std::string& path);

// Returns a cluster with only one pool, which has 400 machine shapes of 1 to 400 CPUs in three zones.
scheduling::Snapshot empty_cluster();
// Returns the same with a thousand nodes and 30,000 running pods.
scheduling::Snapshot busy_cluster();

}  // namespace bench
