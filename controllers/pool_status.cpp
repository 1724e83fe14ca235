#include <algorithm>
#include <tuple>

#include "base/backoff.hpp"
#include "base/text.hpp"
#include "controllers/claim/template_hash.hpp"
#include "controllers/condition_update.hpp"
#include "controllers/pool.hpp"
#include "controllers/provisioning/room.hpp"

namespace controllers {

using api::ConditionStatus;
using api::v1alpha1::LearnedOffer;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::PoolStatus;
using api::v1alpha1::SystemReserved;
namespace conditions = api::conditions;
namespace reasons = api::reasons;

namespace {

using Update = api::ConditionUpdate;

Update managed(const PoolFacts& facts) {
    if (facts.manager)
        return update(conditions::kManaged, ConditionStatus::True, reasons::kSelected,
                      "managed by control plane " + facts.manager->metadata.name);
    return update(
        conditions::kManaged, ConditionStatus::False, reasons::kNotSelected,
        "no NodeSmithControlPlane of this namespace lists the pool in spec.pools (nor \"*\"): nothing "
        "is created or removed");
}

Update provider_ready(const PoolFacts& facts) {
    const auto& name = facts.object.spec.providerRef;
    if (!facts.provider)
        return update(conditions::kProviderReady, ConditionStatus::False, reasons::kProviderNotFound,
                      "there is no NodeSmithProvider " + name + " in this namespace");
    const auto* ready = api::find_condition(facts.provider->status.conditions, conditions::kReady);
    if (!ready)
        return update(conditions::kProviderReady, ConditionStatus::Unknown, reasons::kNotReconciled,
                      "provider " + name + " was not examined yet");
    if (ready->status == ConditionStatus::True)
        return update(conditions::kProviderReady, ConditionStatus::True, reasons::kReady,
                      "provider " + name + " is Ready");
    return update(conditions::kProviderReady, ConditionStatus::False, reasons::kProviderNotReady,
                  "provider " + name + ": " + ready->message);
}

// Whether one more machine of the smallest size could be created, as far as this pool decides.
Update available(const PoolFacts& facts, const PoolStatus& status, const Fleet& fleet, api::Time now) {
    const auto smallest = ledger::one_machine(ledger::smallest_size(facts.object.spec.machineTemplate));
    const auto used = ledger::at_least(fleet.usage, ledger::usage_of(status.reserved));
    if (const auto hit = ledger::admits(ledger::limits_of(facts.object.spec), used, smallest))
        return update(conditions::kAvailable, ConditionStatus::False, hit->reason, hit->message);
    if (status.nextRetryTime && now < *status.nextRetryTime)
        return update(conditions::kAvailable, ConditionStatus::False, reasons::kBackingOff,
                      base::counted(status.consecutiveFailures, "claim") +
                          " failed in a row: nothing is created before " + status.nextRetryTime->str());
    return update(conditions::kAvailable, ConditionStatus::True, reasons::kAvailable,
                  "another machine can be created");
}

Update progressing(const Fleet& fleet) {
    if (fleet.pending_nodes > 0)
        return update(conditions::kProgressing, ConditionStatus::True, reasons::kScalingUp,
                      base::counted(fleet.pending_nodes, "node") +
                          (fleet.pending_nodes == 1 ? " is on its way" : " are on their way"));
    if (fleet.claims.deleting > 0)
        return update(conditions::kProgressing, ConditionStatus::True, reasons::kScalingDown,
                      base::counted(fleet.claims.deleting, "node") +
                          (fleet.claims.deleting == 1 ? " is leaving" : " are leaving"));
    return update(conditions::kProgressing, ConditionStatus::False, reasons::kStable,
                  "no node comes or leaves");
}

Update ready(const PoolFacts& facts, const Update& is_managed, const Update& provider) {
    const auto no = [](std::string_view reason, std::string message) {
        return update(conditions::kReady, ConditionStatus::False, reason, std::move(message));
    };
    if (facts.object.metadata.deletionTimestamp)
        return no(reasons::kDeleting, "is being deleted: ends when its claims and their machines are gone");
    if (facts.label_conflict)
        return no(
            reasons::kLabelConflict,
            "pool " + api::key_of(*facts.label_conflict).str() + " is older and has the same name and " +
                "spec.poolLabelKey, so their Nodes could not be told apart: rename one or change its key");
    if (is_managed.status != ConditionStatus::True) return no(is_managed.reason, is_managed.message);
    if (provider.status != ConditionStatus::True) {
        auto result = provider;
        result.type = conditions::kReady;
        return result;
    }
    return update(conditions::kReady, ConditionStatus::True, reasons::kReady,
                  "machines can be created and removed");
}

std::optional<api::Time> became_true(const NodeSmithClaim& claim, std::string_view type) {
    const auto* condition = api::find_condition(claim.status.conditions, type);
    if (!condition || condition->status != ConditionStatus::True) return std::nullopt;
    return condition->lastTransitionTime;
}

// Where the claim stands that was placed last, as far as claims are left.
std::string youngest_host(const ClaimPointers& claims) {
    const NodeSmithClaim* youngest = nullptr;
    for (const auto& claim : claims) {
        if (claim->status.host.empty()) continue;
        const bool is_younger =
            !youngest || std::tie(youngest->metadata.creationTimestamp, youngest->metadata.name) <
                             std::tie(claim->metadata.creationTimestamp, claim->metadata.name);
        if (is_younger) youngest = claim.get();
    }
    return youngest ? youngest->status.host : std::string();
}

}  // namespace

std::optional<SystemReserved> learn_reserved(const PoolFacts& facts) {
    auto learned = facts.object.status.learnedReserved;
    for (const auto& claim : facts.claims) {
        const auto* node = node_of(*claim, facts.nodes);
        if (!node || !api::is_true(claim->status.conditions, conditions::kInitialized)) continue;
        const auto size = ledger::size_of(claim->spec, &facts.object);
        const auto cpu = node->status.allocatable.find("cpu");
        const auto memory = node->status.allocatable.find("memory");
        if (cpu == node->status.allocatable.end() || memory == node->status.allocatable.end()) continue;
        if (!learned) learned = SystemReserved{0, 0};
        // Rounded so that what is left over is never overrated.
        const auto offered_mib = memory->second.value() / (1024 * 1024);
        learned->cpuMillicores = std::max(learned->cpuMillicores, size.cpuCores * 1000 - cpu->second.milli());
        learned->memoryMiB = std::max(learned->memoryMiB, size.memoryMiB - offered_mib);
    }
    return learned;
}

std::optional<LearnedOffer> learn_offer(const PoolFacts& facts) {
    const auto hash = claim::template_hash(facts.object, facts.provider);
    const bool has_known_disk = facts.provider && facts.provider->status.bootDiskGiB > 0;
    LearnedOffer offer;
    offer.templateHash = hash;
    const auto learn = [](std::int64_t& known, const api::ResourceList& allocatable, const char* name,
                          std::int64_t unit) {
        const auto found = allocatable.find(name);
        if (found == allocatable.end() || found->second.is_zero()) return;
        const auto amount = found->second.value() / unit;
        known = known > 0 ? std::min(known, amount) : amount;
    };
    for (const auto& claim : facts.claims) {
        const auto* node = node_of(*claim, facts.nodes);
        const bool in_service = node && api::is_true(claim->status.conditions, conditions::kInitialized);
        if (!in_service || claim->status.templateHash != hash) continue;
        learn(offer.pods, node->status.allocatable, "pods", 1);
        // Disks of bare metal differ from host to host, and machines without one keep files in memory.
        if (has_known_disk)
            learn(offer.ephemeralStorageMiB, node->status.allocatable, "ephemeral-storage", 1024 * 1024);
    }
    if (offer.pods > 0 || offer.ephemeralStorageMiB > 0) return offer;
    return facts.object.status.learnedOffer;
}

void count_failures(const PoolFacts& facts, PoolStatus& status) {
    const auto counted_until = status.lastScaleFailureTime;
    std::optional<api::Time> last_success;
    for (const auto& claim : facts.claims) {
        // That one size finds no room says nothing about others.
        if (provisioning::failed_for_room(*claim)) continue;
        if (const auto failed = became_true(*claim, conditions::kFailed);
            failed && (!counted_until || *counted_until < *failed)) {
            ++status.consecutiveFailures;
            status.lastScaleFailureTime = std::max(status.lastScaleFailureTime, failed);
        }
        last_success = std::max(last_success, became_true(*claim, conditions::kRegistered));
    }
    if (last_success && status.lastScaleFailureTime && *status.lastScaleFailureTime <= *last_success)
        status.consecutiveFailures = 0;
    status.nextRetryTime.reset();
    if (status.consecutiveFailures == 0) return;
    const auto& retry = facts.object.spec.scaleUp.retry;
    const base::Backoff backoff{std::chrono::duration_cast<base::Duration>(retry.initialBackoff.value),
                                std::chrono::duration_cast<base::Duration>(retry.maxBackoff.value)};
    const auto wait = std::chrono::ceil<std::chrono::seconds>(backoff.after(status.consecutiveFailures));
    status.nextRetryTime = api::Time(status.lastScaleFailureTime->at + wait);
}

PoolStatus next_status(const PoolFacts& facts, api::Time now) {
    auto status = facts.object.status;
    const auto fleet = fleet_of(facts.object, facts.claims, facts.nodes);
    status.observedGeneration = facts.object.metadata.generation;
    status.nodes = fleet.nodes;
    status.readyNodes = fleet.ready_nodes;
    status.pendingNodes = fleet.pending_nodes;
    status.claims = fleet.claims;
    status.cpuCores = fleet.usage.cpuCores;
    status.memoryMiB = fleet.usage.memoryMiB;
    status.learnedReserved = learn_reserved(facts);
    status.learnedOffer = learn_offer(facts);
    count_failures(facts, status);
    if (const auto host = youngest_host(facts.claims); !host.empty()) status.lastPlacedHost = host;

    const auto is_managed = managed(facts);
    const auto provider = provider_ready(facts);
    for (auto next : {ready(facts, is_managed, provider), available(facts, status, fleet, now),
                      progressing(fleet), is_managed, provider}) {
        next.observedGeneration = facts.object.metadata.generation;
        api::set_condition(status.conditions, next, now);
    }
    judge_boot(facts, status, now);
    return status;
}

}  // namespace controllers
