// Short functions to describe clusters.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/names.hpp"
#include "scheduling/machines/machine_sizes.hpp"
#include "scheduling/solver.hpp"
#include "test/support/pods.hpp"

namespace builders {

inline api::Quantity quantity(const std::string& text) {
    return api::Quantity::parse(text);
}

inline api::SelectorRequirement in(const std::string& key, std::vector<std::string> values) {
    return {key, api::SelectorOperator::In, std::move(values)};
}
inline api::SelectorRequirement not_in(const std::string& key, std::vector<std::string> values) {
    return {key, api::SelectorOperator::NotIn, std::move(values)};
}

inline api::Taint taint(const std::string& key, std::string_view effect = api::taints::kNoSchedule) {
    api::Taint taint;
    taint.key = key;
    taint.effect = effect;
    return taint;
}

// Returns a ready node, by default with 4 CPUs, 8 GiB and 110 pods.
inline scheduling::NodeInfo node(const std::string& name, const std::string& cpu = "4",
                                 const std::string& memory = "8Gi") {
    auto object = std::make_shared<api::Node>();
    object->metadata.name = name;
    object->metadata.labels[std::string(api::labels::kHostname)] = name;
    object->status.allocatable = {
        {"cpu", quantity(cpu)}, {"memory", quantity(memory)}, {"pods", quantity("110")}};
    scheduling::NodeInfo node;
    node.node = object;
    return node;
}
inline api::Node& edit(scheduling::NodeInfo& node) {
    return const_cast<api::Node&>(*node.node);
}

// Returns a pool with flexible machines of 1 to 16 CPUs and 1 to 64 GiB, without any system reserve, at one
// place without bounds.
inline scheduling::Pool pool(const std::string& name) {
    scheduling::Pool pool;
    pool.namespace_ = "default";
    pool.name = name;
    pool.labels[std::string(api::labels::kPool)] = name;
    pool.flexible.cpuCores = {1, 16, 1};
    pool.flexible.memoryMiB = {1024, 65536, 512};
    pool.reserved = {0, 0};
    pool.places.push_back({0, "host-a", {{std::string(api::labels::kZone), "host-a"}}});
    return pool;
}

inline scheduling::Place place(const std::string& name) {
    scheduling::Place place;
    place.name = name;
    return place;
}

// Returns a cluster with one pool "small" at one place.
inline scheduling::Snapshot snapshot() {
    scheduling::Snapshot snapshot;
    snapshot.places.push_back(place("host-a"));
    snapshot.pools.push_back(pool("small"));
    return snapshot;
}

// Returns the claim's future Node, as it counts while the machine is coming.
inline scheduling::NodeInfo coming_node(const scheduling::Snapshot& snapshot,
                                        const scheduling::SolveResult& result, std::size_t index) {
    const auto& claim = result.claims[index];
    const auto& pool = snapshot.pools[claim.pool];
    auto node = builders::node("machine-" + std::to_string(index));
    auto& object = edit(node);
    object.metadata.creationTimestamp = api::Time::parse("2026-01-01T00:00:00Z");
    for (const auto& [key, value] : pool.labels) object.metadata.labels[key] = value;
    for (const auto& place : pool.places)
        if (place.place == claim.place)
            for (const auto& [key, value] : place.labels) object.metadata.labels[key] = value;
    object.spec.taints = pool.taints;
    std::int64_t pods = pool.pods_per_node;
    for (const auto& shape : pool.shapes)
        if (shape.name == claim.shape) pods = shape.pods;
    object.status.allocatable = scheduling::expected_allocatable(pool, {claim.cpu_cores, claim.memory_mib});
    object.status.allocatable["pods"] = api::Quantity::of(pods);
    node.availability = scheduling::Availability::coming;
    node.pool = claim.pool;
    for (const auto* pod : claim.pods) node.launched_for.push_back(pod->metadata.uid);
    return node;
}

// Returns the cluster a moment later. Pods that fit on ready nodes are there. Launched machines are coming
// and have used up their resources. Only the pods for which they were launched wait.
inline scheduling::Snapshot after(scheduling::Snapshot snapshot, const scheduling::SolveResult& result) {
    std::set<const api::Pod*> waiting;
    const auto pods = snapshot.pods;
    for (const auto& placement : result.placements) {
        const bool is_ready =
            placement.node && snapshot.nodes[*placement.node].availability == scheduling::Availability::ready;
        if (!is_ready) waiting.insert(placement.pod);
        for (const auto& pod : pods)
            if (is_ready && pod.get() == placement.pod) snapshot.nodes[*placement.node].pods.push_back(pod);
    }
    std::erase_if(snapshot.pods, [&](const auto& pod) { return !waiting.contains(pod.get()); });
    for (std::size_t i = 0; i < result.claims.size(); ++i)
        snapshot.nodes.push_back(coming_node(snapshot, result, i));
    for (const auto& claim : result.claims) {
        for (const auto index : snapshot.pools[claim.pool].budgets) {
            auto& budget = snapshot.budgets[index];
            if (budget.nodes) --*budget.nodes;
            if (budget.cpu_cores) *budget.cpu_cores -= claim.cpu_cores;
        }
        auto& place = snapshot.places[claim.place];
        if (place.free_machines) --*place.free_machines;
        if (place.free_cpu_cores) *place.free_cpu_cores -= claim.cpu_cores;
    }
    return snapshot;
}

// Adds places to all pools: each is a separate zone and host.
inline void add_places(scheduling::Snapshot& snapshot, const std::vector<std::string>& names) {
    for (const auto& name : names) {
        for (auto& pool : snapshot.pools)
            pool.places.push_back({snapshot.places.size(), name, {{std::string(api::labels::kZone), name}}});
        snapshot.places.push_back(place(name));
    }
}

// Returns the names of the pods on each new claim.
inline std::vector<std::vector<std::string>> pods_by_claim(const scheduling::SolveResult& result) {
    std::vector<std::vector<std::string>> names;
    for (const auto& claim : result.claims) {
        names.emplace_back();
        for (const auto* pod : claim.pods) names.back().push_back(pod->metadata.name);
    }
    return names;
}

// Returns the node or "claim N" on which the pod was placed, or "" if it was not placed.
inline std::string target_of(const scheduling::Snapshot& snapshot, const scheduling::SolveResult& result,
                             const std::string& pod) {
    for (const auto& placement : result.placements) {
        if (placement.pod->metadata.name != pod) continue;
        if (placement.node) return snapshot.nodes[*placement.node].node->metadata.name;
        return "claim " + std::to_string(*placement.claim);
    }
    return {};
}

}  // namespace builders
