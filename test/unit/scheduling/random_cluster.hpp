// Small random clusters that use every kind of constraint. The same seed gives the same cluster. The objects
// are valid Kubernetes objects that a real API server accepts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "scheduling/input/snapshot.hpp"

namespace random_cluster {

// Feature is a kind of constraint. Kinds are combined at random or tested alone.
enum class Feature {
    resources,
    node_selector,
    node_affinity,
    taints,
    zone_spread,
    host_spread,
    pod_affinity,
    pod_anti_affinity,
    preferences,
    host_ports,
    priority,
    daemon_sets,
    node_fields,
    extended_resources,
    volumes,
};
inline constexpr int kFeatures = 15;
inline constexpr const char* kVolumeDriver = "csi.test";

struct Options {
    std::vector<Feature> features;  // empty: a random choice
    std::size_t most_pods = 40;
    std::size_t most_nodes = 6;
    bool has_limits = true;  // has budgets and bounded places
    // Each host limits one machine to its own size, and some pods ask for disk.
    bool has_bounds = true;
    std::string prefix;  // prefix of the names of nodes and zones
};

scheduling::Snapshot make(std::uint64_t seed, const Options& options = {});
// Returns the kinds of constraints that make() uses.
std::vector<Feature> features_of(std::uint64_t seed, const Options& options = {});
const char* name_of(Feature feature);

}  // namespace random_cluster
