// core/v1 Node.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "api/meta.hpp"
#include "api/quantity.hpp"

namespace api {

// Taint has all its fields: taints are patched as a list, so a missing field would be lost.
struct Taint {
    std::string key;
    std::string value;
    std::string effect;  // NoSchedule, PreferNoSchedule or NoExecute; see names.hpp
    std::optional<Time> timeAdded;
    bool operator==(const Taint&) const = default;
};

// Compares key and effect, which identify a taint in Kubernetes.
bool same_taint(const Taint& a, const Taint& b);
const Taint* find_taint(const std::vector<Taint>& taints, std::string_view key, std::string_view effect);

struct NodeSpec {
    std::vector<Taint> taints;
    bool unschedulable = false;
    std::string providerID;
    bool operator==(const NodeSpec&) const = default;
};

struct NodeSystemInfo {
    std::string machineID;
    std::string systemUUID;
    std::string architecture;
    bool operator==(const NodeSystemInfo&) const = default;
};

struct NodeAddress {
    std::string type;
    std::string address;
    bool operator==(const NodeAddress&) const = default;
};

struct NodeStatus {
    ResourceList capacity;
    ResourceList allocatable;
    Conditions conditions;
    std::vector<NodeAddress> addresses;
    NodeSystemInfo nodeInfo;
    std::vector<std::string> declaredFeatures;  // of the kubelet, from Kubernetes 1.35 on
    bool operator==(const NodeStatus&) const = default;
};

struct Node {
    static constexpr Resource kResource{"", "v1", "nodes", "Node", false};
    ObjectMeta metadata;
    NodeSpec spec;
    NodeStatus status;
    bool operator==(const Node&) const = default;
};

}  // namespace api
