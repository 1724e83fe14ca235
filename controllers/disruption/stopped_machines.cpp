#include "controllers/disruption/stopped_machines.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/node_search.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/claim/facts/power.hpp"
#include "kube/watches.hpp"
#include "providers/errors.hpp"
#include "providers/provider.hpp"

namespace controllers::disruption {

namespace {

// A Node that is not Ready for less time often recovers by itself.
constexpr auto kPatience = std::chrono::minutes{1};
constexpr base::Duration kAskAgain = std::chrono::minutes{1};

}  // namespace

void StoppedMachines::subscribe(kube::WorkQueue& queue) {
    kube::watch(informers_.nodes).changed(is_ready).enqueue(queue, [this](const api::Node& node) {
        kube::Keys keys;
        for (const auto& claim : informers_.claims.store().by_index(kClaimsByNode, node.metadata.name))
            keys.push_back(claim::provider_of(*claim));
        return keys;
    });
    // This is not queued, because the queue may be busy with another machine of the provider for a long time.
    kube::watch(informers_.nodes).became(is_ready).call([this](const api::Node& node) {
        for (const auto& claim : informers_.claims.store().by_index(kClaimsByNode, node.metadata.name))
            forget(claim->metadata.uid);
    });
    const auto node_of = [](const NodeSmithClaim& claim) { return claim.status.nodeName; };
    kube::watch(informers_.claims).changed(node_of).enqueue(queue, claim::provider_of);
    const auto repairs = [](const NodeSmithPool& pool) { return pool.spec.disruption.repair.action; };
    kube::watch(informers_.pools).changed(repairs).enqueue(queue, [](const NodeSmithPool& pool) {
        return kube::ObjectKey(pool.metadata.namespace_, pool.spec.providerRef);
    });
}

asio::awaitable<kube::Result> StoppedMachines::reconcile(kube::ObjectKey provider) {
    kube::Result result;
    const auto claims = informers_.claims.store().values();
    for (const auto& claim : claims) {
        if (claim::provider_of(*claim) != provider) continue;
        const auto& uid = claim->metadata.uid;
        auto wait = worth_a_look_in(*claim);
        if (!wait) {
            forget(uid);
            continue;
        }
        if (const auto asked = asked_.find(uid); asked != asked_.end())
            wait = std::max(*wait, asked->second + kAskAgain - clock_.now());
        if (*wait <= base::Duration::zero()) {
            asked_[uid] = clock_.now();
            wait = kAskAgain;
            co_await ask(claim);
        }
        result.requeue_after = kube::sooner(result.requeue_after, wait);
    }
    co_return result;
}

std::optional<base::Duration> StoppedMachines::worth_a_look_in(const NodeSmithClaim& claim) const {
    const auto pool = informers_.pools.store().get({claim.metadata.namespace_, claim.spec.poolRef});
    if (!pool || pool->spec.disruption.repair.action == api::v1alpha1::RepairAction::None)
        return std::nullopt;
    const auto node = claim::noted_node(informers_, claim);
    if (!node || claim.metadata.deletionTimestamp) return std::nullopt;
    const api::Time now(clock_.wall_now());
    const auto since = not_ready_since(*node, claim, now);
    if (!since) return std::nullopt;
    return std::chrono::duration_cast<base::Duration>(since->at + kPatience - now.at);
}

asio::awaitable<void> StoppedMachines::ask(ClaimPointer claim) {
    try {
        const auto provider_key = claim::provider_of(*claim);
        const auto lookup = co_await instances_.get(provider_key);
        const auto object = informers_.providers.store().get(provider_key);
        const auto* backend = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
        if (!object || !backend) co_return;
        const auto identity = claim::identity_of(*claim, instances_.cluster_id(), object->metadata.uid);
        const auto machine = co_await (*backend)->get(identity, claim::record_of(claim->status));
        // The Node may have been Ready meanwhile.
        const auto wait = worth_a_look_in(*claim);
        if (!wait || *wait > base::Duration::zero()) co_return;
        bool is_stopped = machine && machine->state == providers::MachineState::stopped;
        // The claim has the machine started, or leaves it to the person who switched it off.
        const auto fresh = informers_.claims.store().get(api::key_of(*claim));
        if ((*backend)->capabilities().machine_starter)
            is_stopped = is_stopped && fresh && claim::does_not_start(*fresh);
        auto& known = stopped_[claim->metadata.uid];
        if (std::exchange(known, is_stopped) != is_stopped && listener_)
            listener_({claim->metadata.namespace_, claim->spec.poolRef});
    } catch (const providers::FencedError&) {
        throw;
    } catch (const std::exception& error) {
        // A machine that cannot be examined says nothing about the others.
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
