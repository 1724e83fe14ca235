#include "controllers/provisioning/expected_node.hpp"
#include "controllers/claim/state/doubtful_machine.hpp"

#include <algorithm>

#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/node_changes.hpp"
#include "controllers/provisioning/facts/room.hpp"
#include "controllers/provisioning/machine_offer.hpp"
#include "controllers/services/machine_reports.hpp"
#include "controllers/state/contested_labels.hpp"

namespace controllers::provisioning {

namespace {

// A provider that was unavailable for a shorter time is expected back before anything else is launched.
constexpr std::chrono::seconds kProviderPatience{30};

// Adds the labels that the kubelet of every machine of the pool sets.
void add_kubelet_labels(api::StringMap& labels, const std::string& host_name, const NodeSmithPool* pool) {
    const std::string arch = pool ? pool->spec.machineTemplate.architecture : "amd64";
    labels.try_emplace(std::string(api::labels::kHostname), host_name);
    for (const auto* key : {"kubernetes.io/arch", "beta.kubernetes.io/arch"}) labels.try_emplace(key, arch);
    for (const auto* key : {"kubernetes.io/os", "beta.kubernetes.io/os"}) labels.try_emplace(key, "linux");
}

// Adds the label that the operator sets if a cloud controller does not: see claim::registered().
void add_instance_type(api::Node& node, const NodeSmithClaim& claim, const NodeSmithPool* pool) {
    if (api::find_taint(node.spec.taints, api::taints::kUninitialized, api::taints::kNoSchedule)) return;
    const auto type = expected_instance_type(claim, pool);
    if (!type.empty()) node.metadata.labels->try_emplace(std::string(claim::kInstanceType), type);
}

}  // namespace

std::string expected_instance_type(const NodeSmithClaim& claim, const NodeSmithPool* pool) {
    return claim::instance_type_of(
        claim.status.size.empty() ? claim::size_text(limits::size_of(claim.spec, pool)) : claim.status.size);
}

api::Node expected_node(const NodeSmithClaim& claim, const NodeSmithPool* pool,
                        const NodeSmithProvider* provider, const api::Node* node,
                        const api::v1alpha1::HostSpec* host) {
    api::Node result;
    if (node) result = *node;
    if (!node) result.metadata.name = claim.metadata.name;
    // The Node's age in plans is that of the launch.
    result.metadata.creationTimestamp = claim.metadata.creationTimestamp;
    const claim::NodeOrigin origin{claim, pool, claim::zone_label(provider), host,
                                   claim::region_of(provider)};
    auto labels = claim::node_labels(origin);
    if (pool) take_contested_off(labels, *pool);
    for (const auto& [key, value] : labels) result.metadata.labels[key] = value;
    // The requested zone will be used, but the claim's status has it only after the placement.
    if (!origin.zone_label.empty() && claim.status.zone.empty() && !claim.spec.zone.empty())
        result.metadata.labels[origin.zone_label] = claim.spec.zone;
    add_kubelet_labels(*result.metadata.labels, result.metadata.name, pool);
    add_instance_type(result, claim, pool);
    if (pool) claim::add_taints(result.spec.taints, pool->spec.machineTemplate.taints);
    if (host) claim::add_taints(result.spec.taints, host->taints);
    claim::add_taints(result.spec.taints, claim.spec.taints);
    // A young Node lacks figures, or those that a device plugin will add.
    for (const auto& [name, amount] : expected_allocatable(claim, pool, provider)) {
        const auto known = result.status.allocatable.find(name);
        if (known == result.status.allocatable.end() || known->second.is_zero())
            result.status.allocatable[name] = amount;
    }
    return result;
}

NodePointer within_its_machine(NodePointer node, const NodeSmithClaim& claim, const NodeSmithPool* pool) {
    const auto size = limits::size_of(claim.spec, pool);
    const std::pair<const char*, api::Quantity> most[] = {
        {"cpu", api::Quantity::of(size.cpuCores)}, {"memory", api::Quantity::of_mebibytes(size.memoryMiB)}};
    std::shared_ptr<api::Node> corrected;
    for (const auto& [name, amount] : most) {
        const auto said = node->status.allocatable.find(name);
        if (amount.is_zero() || said == node->status.allocatable.end() || said->second <= amount) continue;
        if (!corrected) corrected = std::make_shared<api::Node>(*node);
        corrected->status.allocatable[name] = amount;
    }
    return corrected ? corrected : std::move(node);
}

bool is_held_up(const NodeSmithClaim& claim) {
    return claim::waits_for(claim, reasons::kLimitExceeded) || removal_hangs(claim) || lacks_room(claim) ||
           claim::needs_person_for_machine(claim.status);
}

const api::Condition* refused_certificate(const NodeSmithClaim& claim) {
    const auto* registered = api::find_condition(claim.status.conditions, conditions::kRegistered);
    // Other requests for the claim's own objects have the same reason, and concern no other machine.
    const bool is_refused = registered && registered->status != ConditionStatus::True &&
                            registered->reason == reasons::kRequestRefused &&
                            registered->message.find(MachineReports::kFirstCertificate) != std::string::npos;
    return is_refused ? registered : nullptr;
}

bool can_be_waited_for(const NodeSmithClaim& claim, const NodeSmithProvider* provider, api::Time now) {
    const auto state = state_of(claim);
    if (state == ClaimState::deleting || state == ClaimState::failed || removal_hangs(claim)) return false;
    // Without a certificate its machine cannot join, for nobody knows how long.
    if (refused_certificate(claim)) return false;
    if (api::is_true(claim.status.conditions, conditions::kLaunched)) return true;
    if (!limits::is_admitted(claim) || is_held_up(claim)) return false;
    if (!provider) return false;
    const auto end = end_of_patience(*provider);
    return !end || now < *end;
}

std::optional<api::Time> end_of_patience(const NodeSmithProvider& provider) {
    const auto* ready = api::find_condition(provider.status.conditions, conditions::kReady);
    const bool is_away = ready && ready->status != ConditionStatus::True && ready->lastTransitionTime;
    if (!is_away) return std::nullopt;
    return api::Time(ready->lastTransitionTime->at + kProviderPatience);
}

}  // namespace controllers::provisioning
