#include "controllers/disruption/stopped_machines.hpp"

#include "base/log.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/identity.hpp"
#include "controllers/state/node_search.hpp"
#include "controllers/state/pool_counts.hpp"
#include "providers/errors.hpp"
#include "providers/provider.hpp"

namespace controllers::disruption {

namespace {

// A Node that is not Ready for that long may well come back by itself.
constexpr auto kPatience = std::chrono::minutes{1};
constexpr base::Duration kAskAgain = std::chrono::minutes{1};

}  // namespace

asio::awaitable<void> StoppedMachines::look(PoolPointer pool) {
    if (pool->spec.disruption.repair.action == api::v1alpha1::RepairAction::None) co_return;
    const auto claims = informers_.claims.store().by_index(kClaimsByPool, api::key_of(*pool).str());
    for (const auto& claim : claims) {
        const auto& uid = claim->metadata.uid;
        const bool is_worth_it = concerns(*claim);
        if (!is_worth_it) stopped_.erase(uid);
        const auto asked = asked_.find(uid);
        if (!is_worth_it || (asked != asked_.end() && clock_.now() < asked->second + kAskAgain)) continue;
        asked_[uid] = clock_.now();
        co_await ask(claim);
    }
}

bool StoppedMachines::concerns(const NodeSmithClaim& claim) const {
    const auto node = claim::noted_node(informers_, claim);
    if (!node || claim.metadata.deletionTimestamp) return false;
    const auto since = not_ready_since(*node);
    return since && since->at + kPatience <= api::Time(clock_.wall_now()).at;
}

asio::awaitable<void> StoppedMachines::ask(ClaimPointer claim) {
    const auto provider_key = claim::provider_of(*claim);
    const auto object = informers_.providers.store().get(provider_key);
    const auto lookup = co_await instances_.get(provider_key);
    const auto* backend = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    if (!object || !backend) co_return;
    try {
        const auto identity = claim::identity_of(*claim, instances_.cluster_id(), object->metadata.uid);
        const auto machine = co_await (*backend)->get(identity, claim::record_of(claim->status));
        stopped_[claim->metadata.uid] = machine && machine->state == providers::MachineState::stopped;
    } catch (const providers::FencedError&) {
        throw;
    } catch (const providers::ProviderError& error) {
        base::log::warning("Could not look at the machine of a node that is not Ready",
                           {{"node", claim->status.nodeName}, {"error", error.what()}});
    }
}

bool StoppedMachines::contains(const std::string& claim_uid) const {
    const auto found = stopped_.find(claim_uid);
    return found != stopped_.end() && found->second;
}

void StoppedMachines::forget(const std::string& claim_uid) {
    asked_.erase(claim_uid);
    stopped_.erase(claim_uid);
}

}  // namespace controllers::disruption
