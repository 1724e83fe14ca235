// Builds objects for the tests of controllers, with only the fields that matter.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/limits/limits.hpp"

namespace objects {

using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithControlPlane;
using api::v1alpha1::NodeSmithPool;
using api::v1alpha1::NodeSmithProvider;

// The time at which fake::VirtualClock starts.
inline const api::Time kStart{std::chrono::system_clock::time_point{std::chrono::seconds{1'800'000'000}}};
inline api::Time at(std::chrono::seconds after_start) {
    return api::Time(kStart.at + after_start);
}

inline NodeSmithPool pool(const std::string& name, const std::string& namespace_ = "default") {
    NodeSmithPool result;
    result.metadata.name = name;
    result.metadata.namespace_ = namespace_;
    result.metadata.uid = "uid-of-" + namespace_ + "-" + name;
    result.metadata.creationTimestamp = kStart;
    result.metadata.generation = 1;
    result.spec.providerRef = "proxmox";
    return result;
}

inline NodeSmithControlPlane control_plane(const std::string& name, std::vector<std::string> pools) {
    NodeSmithControlPlane result;
    result.metadata.name = name;
    result.metadata.namespace_ = "default";
    result.metadata.uid = "uid-of-control-plane-" + name;
    result.metadata.creationTimestamp = kStart;
    result.metadata.generation = 1;
    result.spec.pools = std::move(pools);
    return result;
}

inline void set_condition(api::Conditions& conditions, std::string_view type, api::ConditionStatus status,
                          api::Time when = kStart, const std::string& reason = "Test") {
    api::set_condition(conditions, {std::string(type), status, reason, "", std::nullopt}, when);
}

inline NodeSmithProvider provider(const std::string& name,
                                  api::ConditionStatus ready = api::ConditionStatus::True) {
    NodeSmithProvider result;
    result.metadata.name = name;
    result.metadata.namespace_ = "default";
    result.metadata.uid = "uid-of-provider-" + name;
    result.metadata.generation = 1;
    result.spec.proxmox.emplace();
    result.spec.proxmox->endpoint = "https://pve.example:8006/api2/json";
    set_condition(result.status.conditions, api::conditions::kReady, ready);
    set_condition(result.status.conditions, api::conditions::kReachable, ready);
    return result;
}

// Returns a claim as a user applies it.
inline NodeSmithClaim claim(const std::string& name, const NodeSmithPool& pool, std::int64_t cpu = 2,
                            std::int64_t memory_mib = 4096) {
    NodeSmithClaim result;
    result.metadata.name = name;
    result.metadata.namespace_ = pool.metadata.namespace_;
    result.metadata.uid = "uid-of-claim-" + name;
    result.metadata.creationTimestamp = at(std::chrono::seconds{-1});  // A claim is older than its Node.
    result.spec.poolRef = pool.metadata.name;
    result.spec.requirements = {cpu, memory_mib};
    return result;
}

inline NodeSmithClaim created_claim(const std::string& name, const NodeSmithPool& pool, std::int64_t sequence,
                                    std::int64_t cpu = 2, std::int64_t memory_mib = 4096) {
    auto result = claim(name, pool, cpu, memory_mib);
    api::OwnerReference owner;
    owner.kind = NodeSmithPool::kResource.kind;
    owner.name = pool.metadata.name;
    owner.uid = pool.metadata.uid;
    owner.controller = true;
    result.metadata.ownerReferences->push_back(owner);
    result.spec.idempotencyKey = controllers::limits::idempotency_key(pool.metadata.uid, sequence);
    return result;
}

// Makes the claim a Node in service with the claim's name.
inline NodeSmithClaim in_service(NodeSmithClaim claim, api::Time since = kStart) {
    for (const auto type : {api::conditions::kLaunched, api::conditions::kRegistered,
                            api::conditions::kInitialized, api::conditions::kReady})
        set_condition(claim.status.conditions, type, api::ConditionStatus::True, since);
    claim.status.nodeName = claim.metadata.name;
    claim.status.providerRef = "proxmox";
    return claim;
}

inline api::Node node(const std::string& name, bool ready = true, const std::string& cpu = "2",
                      const std::string& memory = "4Gi") {
    api::Node result;
    result.metadata.name = name;
    result.metadata.uid = "uid-of-node-" + name;
    result.metadata.creationTimestamp = kStart;
    result.status.capacity = {{"cpu", api::Quantity::parse(cpu)},
                              {"memory", api::Quantity::parse(memory)},
                              {"pods", api::Quantity::of(110)}};
    result.status.allocatable = result.status.capacity;
    set_condition(result.status.conditions, api::conditions::kReady,
                  ready ? api::ConditionStatus::True : api::ConditionStatus::False);
    return result;
}

// ClaimBuilder describes a launched claim and its state: a_claim("a", pool).sized(4, 8192).in_service().
struct ClaimBuilder {
    NodeSmithClaim claim;

    ClaimBuilder& sized(std::int64_t cpu, std::int64_t memory_mib) {
        claim.spec.requirements = {cpu, memory_mib};
        return *this;
    }
    ClaimBuilder& of_template(const std::string& hash) {
        claim.status.templateHash = hash;
        return *this;
    }
    ClaimBuilder& in_service(api::Time since = kStart) {
        claim = objects::in_service(std::move(claim), since);
        return *this;
    }
    ClaimBuilder& failed(api::Time when, const std::string& reason = "Test") {
        set_condition(claim.status.conditions, api::conditions::kFailed, api::ConditionStatus::True, when,
                      reason);
        return *this;
    }
    ClaimBuilder& leaving(api::Time since = kStart) {
        claim.metadata.deletionTimestamp = since;
        return *this;
    }
    operator const NodeSmithClaim&() const { return claim; }
};

inline ClaimBuilder a_claim(const std::string& name, const NodeSmithPool& pool, std::int64_t sequence = 1) {
    return {created_claim(name, pool, sequence)};
}

// NodeBuilder describes a Node: a_node("a").offering("pods", "60"). By default it is Ready and has 2 CPUs and
// 4 GiB.
struct NodeBuilder {
    api::Node node;

    NodeBuilder& unready() {
        set_condition(node.status.conditions, api::conditions::kReady, api::ConditionStatus::False);
        return *this;
    }
    // Sets how much of a resource pods may use.
    NodeBuilder& offering(const std::string& resource, const std::string& amount) {
        node.status.allocatable[resource] = api::Quantity::parse(amount);
        return *this;
    }
    NodeBuilder& having(const std::string& resource, const std::string& amount) {
        node.status.capacity[resource] = api::Quantity::parse(amount);
        return *this;
    }
    NodeBuilder& label(const std::string& key, const std::string& value) {
        node.metadata.labels[key] = value;
        return *this;
    }
    operator const api::Node&() const { return node; }
};

inline NodeBuilder a_node(const std::string& name) {
    return {node(name)};
}

template <class T>
std::map<api::ObjectKey, std::shared_ptr<const T>> store_of(const std::vector<T>& all) {
    std::map<api::ObjectKey, std::shared_ptr<const T>> result;
    for (const auto& object : all) result.emplace(api::key_of(object), std::make_shared<const T>(object));
    return result;
}

inline controllers::ClaimPointers pointers(const std::vector<NodeSmithClaim>& all) {
    controllers::ClaimPointers result;
    for (const auto& claim : all) result.push_back(std::make_shared<const NodeSmithClaim>(claim));
    return result;
}

}  // namespace objects
