#include "controllers/claim/act/adoption.hpp"

#include <algorithm>

#include "controllers/claim/facts/identity.hpp"

namespace controllers::claim {

namespace {

constexpr base::Duration kRetry = std::chrono::minutes{1};

// Finds the Node's name as the Go operator did: from the status, otherwise the claim's name.
const std::string& node_name_of(const NodeSmithClaim& claim) {
    return claim.status.nodeName.empty() ? claim.metadata.name : claim.status.nodeName;
}

void refuse(ClaimStatus& status, const Situation& s, const std::string& why) {
    set(status, conditions::kAdopted, ConditionStatus::False, reasons::kNotAdopted,
        "it is not proven that machine " + status.providerID +
            " belongs to this claim, so nothing is changed: " + why,
        s.now);
    if (!s.claim.metadata.deletionTimestamp) return;
    set(status, conditions::kMachineDeleted, ConditionStatus::False, reasons::kNotAdopted,
        "it is not proven that machine " + status.providerID +
            " belongs to this claim, so it is not touched (" + why +
            "); once the machine is gone, annotate this claim with " +
            std::string(api::annotations::kMachineGone) + "=true",
        s.now);
}

void accept(ClaimStatus& status, const Situation& s, const providers::Adopted& machine,
            const std::string& system_uuid) {
    status.host = machine.record.host;
    status.machineID = machine.record.machine_id;
    status.providerID = machine.provider_id;
    status.systemUUID = system_uuid;
    status.launchAttempts = std::max<std::int32_t>(status.launchAttempts, 1);
    if (status.providerRef.empty() && s.pool) status.providerRef = s.pool->spec.providerRef;
    if (!machine.zone.empty()) status.zone = machine.zone;
    const auto what = "machine " + status.machineID + " on host " + status.host;
    set(status, conditions::kAdopted, ConditionStatus::True, conditions::kAdopted,
        what + " was created by the Go operator and now carries the mark of this operator", s.now);
    set(status, conditions::kLaunched, ConditionStatus::True, conditions::kAdopted, what + " runs", s.now);
    std::erase_if(status.conditions, [](const api::Condition& condition) {
        return condition.type == conditions::kMachineDeleted && condition.reason == reasons::kNotAdopted;
    });
}

}  // namespace

ClaimStatus after_adoption(const Situation& s, const providers::AdoptResult& result,
                           const std::string& system_uuid) {
    auto status = s.claim.status;
    if (const auto* no = std::get_if<providers::NotAdopted>(&result)) refuse(status, s, no->message);
    if (const auto* yes = std::get_if<providers::Adopted>(&result)) accept(status, s, *yes, system_uuid);
    return status;
}

asio::awaitable<kube::Result> Adoption::adopt(Observation observation) {
    const auto node = informers_.nodes.store().get({"", node_name_of(*observation.claim)});
    const auto result = co_await prove(observation, node);
    const bool adopted = std::holds_alternative<providers::Adopted>(result);
    if (adopted) co_await nodes_.label(observation, node);
    observation.now = api::Time(clock_.wall_now());
    auto status = after_adoption(observation.situation(), result,
                                 adopted ? node->status.nodeInfo.systemUUID : std::string());
    co_await writer_.record_outcome(observation, std::move(status));
    co_return kube::Result{adopted ? base::Duration::zero() : kRetry};
}

asio::awaitable<providers::AdoptResult> Adoption::prove(Observation observation, NodePointer node) {
    const auto& claim = *observation.claim;
    if (!node || node->status.nodeInfo.systemUUID.empty())
        co_return providers::NotAdopted{"there is no Node " + node_name_of(claim) +
                                        " whose system UUID could prove it"};
    if (auto why = why_not_adoptable(informers_, claim, *node); !why.empty())
        co_return providers::NotAdopted{std::move(why)};
    co_return co_await ask_provider(observation, node);
}

asio::awaitable<providers::AdoptResult> Adoption::ask_provider(Observation observation, NodePointer node) {
    const auto& claim = *observation.claim;
    if (!observation.provider) co_return providers::NotAdopted{"its NodeSmithProvider does not exist"};
    const auto lookup = co_await instances_.get(api::key_of(*observation.provider));
    if (const auto* missing = std::get_if<ProviderUnavailable>(&lookup))
        co_return providers::NotAdopted{missing->message};
    const auto provider = std::get<std::shared_ptr<providers::Provider>>(lookup);
    auto* adopter = provider->capabilities().adopter;
    if (!adopter) co_return providers::NotAdopted{"its provider cannot adopt machines"};
    auto identity = identity_of(claim, instances_.cluster_id(), observation.provider->metadata.uid);
    identity.attempt = std::max<std::int64_t>(identity.attempt, 1);
    identity.system_uuid = node->status.nodeInfo.systemUUID;
    co_return co_await adopter->adopt(std::move(identity));
}

}  // namespace controllers::claim
