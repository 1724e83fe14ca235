#include "controllers/epoch_reconciler.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "controllers/cache/condition_update.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/state/acceptance.hpp"
#include "kube/watches.hpp"
#include "providers/errors.hpp"

namespace controllers {

namespace {

using BackendPointer = std::shared_ptr<providers::Provider>;

std::string ended_operator(const NodeSmithProvider& provider) {
    const auto* epoch = api::find(provider.metadata.annotations, api::annotations::kOtherOperatorEnded);
    return epoch ? *epoch : std::string();
}

bool reaches_backend(const NodeSmithProvider& provider) {
    return api::is_true(provider.status.conditions, conditions::kReachable);
}

ClaimPointer claim_with(const Informers& informers, const std::string& uid) {
    for (const auto& [key, claim] : informers.claims.store().all())
        if (claim->metadata.uid == uid) return claim;
    return nullptr;
}

}  // namespace

EpochReconciler::EpochReconciler(const Context& context, ProviderInstances& instances,
                                 std::function<kube::LeaderEpochs()> leader)
    : InContext(context), instances_(instances), leader_(std::move(leader)) {}

void EpochReconciler::subscribe(kube::WorkQueue& queue) {
    kube::watch(informers_.providers)
        .changed(kube::kGeneration, kube::kUid, ended_operator, reaches_backend)
        .enqueue(queue);
}

void EpochReconciler::begin() {
    leads_from_nothing_ = informers_.claims.store().all().empty();
}

asio::awaitable<kube::Result> EpochReconciler::reconcile(kube::ObjectKey key) {
    const auto provider = informers_.providers.store().get(key);
    if (!provider || uids_[key] != provider->metadata.uid) states_.erase(uids_[key]);
    if (!provider) {
        uids_.erase(key);
        co_return kube::Result{};
    }
    uids_[key] = provider->metadata.uid;
    // The provider's reconciler reports why an object or a backend cannot be used.
    if (!is_understood(provider->metadata)) co_return kube::Result{};
    const auto lookup = co_await instances_.get(key);
    const auto* found = std::get_if<BackendPointer>(&lookup);
    if (!found) co_return kube::Result{kEpochLook};
    const auto backend = *found;
    auto* keeper = backend->capabilities().epoch_keeper;
    if (!keeper) {
        // Without a lock of hosts nobody can tell, so an earlier finding no longer counts.
        states_.erase(provider->metadata.uid);
        co_await report(key);
        co_return kube::Result{};
    }
    try {
        co_await look(provider, *keeper);
    } catch (const providers::FencedError&) {
        throw;  // this process is no longer the leader
    } catch (const providers::ProviderError& error) {
        states_[provider->metadata.uid].obstacle = error.what();
        base::log::debug("Cannot tell whether another operator owns the same machines",
                         {{"provider", key.str()}, {"error", error.what()}});
    }
    co_await report(key);
    co_return kube::Result{kEpochLook};
}

asio::awaitable<void> EpochReconciler::look(ProviderPointer provider, providers::EpochKeeper& keeper) {
    const auto uid = provider->metadata.uid;
    EpochSight sight;
    sight.look = co_await keeper.read_epoch([this](const std::string& claim_uid, std::int64_t attempt) {
        const auto claim = claim_with(informers_, claim_uid);
        const bool is_adopted = claim && api::is_true(claim->status.conditions, conditions::kAdopted);
        return is_adopted ? claim->status.systemUUID : claim::system_uuid(claim_uid, attempt);
    });
    sight.leader = leader_();
    sight.leads_from_nothing = leads_from_nothing_;
    sight.is_of_our_claim = sight.look.slot && claim_with(informers_, sight.look.slot->claim_uid);
    sight.ended = ended_operator(*provider);
    sight.now = clock_.now();
    auto decision = next_epoch(states_[uid], sight);
    if (!decision.state.other.empty()) states_[uid] = decision.state;
    if (decision.write) {
        co_await keeper.write_epoch(*sight.look.slot, *decision.write);
        // The wait begins once other operators can read the record.
        if (decision.state.waits == sight.now) decision.state.waits = clock_.now();
    }
    states_[uid] = decision.state;
    if (decision.heeds_person) co_await drop_statement(api::key_of(*provider), sight.ended);
}

asio::awaitable<void> EpochReconciler::drop_statement(kube::ObjectKey key, std::string epoch) {
    const auto provider = informers_.providers.store().get(key);
    if (!provider || ended_operator(*provider) != epoch) co_return;
    events_.normal(*provider, "OtherOperatorEnded",
                   "the operator with epoch " + epoch + " has ended, as the annotation " +
                       std::string(api::annotations::kOtherOperatorEnded) +
                       " says; machines are removed again if it does not show itself within two minutes");
    auto after = *provider;
    after.metadata.annotations->erase(std::string(api::annotations::kOtherOperatorEnded));
    co_await write_object(client_, informers_.providers, *provider, std::move(after));
}

asio::awaitable<void> EpochReconciler::report(kube::ObjectKey key) {
    const auto current = informers_.providers.store().get(key);
    if (!current) co_return;
    const auto state = states_.find(current->metadata.uid);
    const bool is_found = state != states_.end() && !state->second.other.empty();
    const auto message =
        is_found ? controllers::why_not_destroy(state->second, leader_().own).why : std::string();
    auto after = *current;
    const bool is_new = set_while_told(after.status.conditions,
                                       update(conditions::kOtherOperatorFound, ConditionStatus::True,
                                              reasons::kOtherOperator, message, current->metadata.generation),
                                       api::Time(clock_.wall_now()));
    co_await write_status(client_, informers_.providers, *current, std::move(after));
    if (is_new) events_.warning(*current, std::string(conditions::kOtherOperatorFound), message);
}

providers::RemovalHold EpochReconciler::why_not_destroy(const std::string& provider_uid) const {
    const auto state = states_.find(provider_uid);
    return controllers::why_not_destroy(state == states_.end() ? EpochState{} : state->second, leader_().own);
}

}  // namespace controllers
