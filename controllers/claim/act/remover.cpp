#include "controllers/claim/act/remover.hpp"

#include "controllers/claim/decide/cleanup.hpp"
#include "controllers/claim/decide/keeping.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"

namespace controllers::claim {

namespace {

constexpr base::Duration kDrainRetry = std::chrono::seconds{5};
constexpr base::Duration kReleaseRetry = std::chrono::seconds{2};

template <class Result>
base::Duration wait_after(const Result& result) {
    if (const auto* busy = std::get_if<providers::RemovalInProgress>(&result)) return busy->retry_after;
    if (const auto* blocked = std::get_if<providers::RemovalBlocked>(&result)) return blocked->retry_after;
    return base::Duration::zero();
}

// Limits the creation task of an unwanted machine to the same time as that of a wanted one.
providers::MachineRecord record_with_patience(const Observation& observation) {
    auto record = record_of(observation.claim->status);
    const auto scale_up = observation.pool ? observation.pool->spec.scaleUp : api::v1alpha1::ScaleUp{};
    record.patience = scale_up.provisionTimeout.value;
    return record;
}

providers::RemovalBlocked without_provider(const ProviderLookup& lookup, const kube::ObjectKey& provider) {
    const auto* why = std::get_if<ProviderUnavailable>(&lookup);
    providers::RemovalBlocked blocked;
    blocked.reason = why ? why->reason : std::string(reasons::kProviderMissing);
    blocked.message = why ? why->message : "there is no NodeSmithProvider " + provider.str();
    blocked.retry_after = kProviderRetry;
    return blocked;
}

providers::RemovalBlocked cannot_remove(const ProviderLookup& lookup, const kube::ObjectKey& provider) {
    auto blocked = without_provider(lookup, provider);
    blocked.message +=
        "; if this cannot be corrected, make sure that the machine at the provider belongs to this claim "
        "(its description names the claim), destroy it there, and annotate the claim with "
        "kubenodesmith.io/machine-gone=true";
    return blocked;
}

// Says why a machine that is to be kept cannot be released without its provider, or records that a person
// states that it is gone, which it reports. The taint out-of-service states less: such a machine may run
// again, and without a claim its mark would make it an orphan.
bool wait_for_release(ClaimStatus& status, const ProviderLookup& lookup, const NodeSmithClaim& claim,
                      api::Time now) {
    if (annotated_gone(claim)) {
        note_stated_gone(status, now);
        return true;
    }
    const auto blocked = without_provider(lookup, provider_of(claim));
    set(status, conditions::kMachineDeleted, ConditionStatus::False, blocked.reason,
        blocked.message +
            "; the machine is kept (deletionPolicy Retain), and its mark is removed once its "
            "provider is there again. If the machine is gone, annotate the claim with " +
            std::string(api::annotations::kMachineGone) + "=true",
        now);
    return false;
}

}  // namespace

asio::awaitable<kube::Result> Remover::drain(Observation observation) {
    const auto request = drain_request(observation.situation());
    if (!disruption::under_way(*observation.claim))
        writer_.warn_of_evictions(observation, drainer_.protected_on(request.node));
    const auto progress = co_await drainer_.step(request);
    // The drain begins with its first step, so pods that replace evicted ones are younger than the drain.
    if (request.began) observation.now = api::Time(clock_.wall_now());
    const auto written =
        co_await writer_.record_outcome(observation, after_drain(observation.situation(), progress));
    if (is_true(*written, conditions::kDrained)) co_return kube::Result{base::Duration::zero()};
    if (progress.retry_after > base::Duration::zero()) co_return kube::Result{progress.retry_after};
    // Pods wake the claim only after its status names the Node.
    co_return kube::Result{kDrainRetry};
}

providers::InUseCheck Remover::in_use_check(const Observation& observation) {
    const auto& claim = observation.claim;
    if (observation.node || is_true(*claim, conditions::kDrained)) return {};
    return [this, claim] { return nodes_.has_joined(claim); };
}

asio::awaitable<kube::Result> Remover::remove_machine(Observation observation) {
    const auto claim = observation.claim;
    const auto provider_key = provider_of(*claim);
    const auto lookup = co_await instances_.get(provider_key);
    const auto* provider = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    providers::RemoveResult result;
    if (provider && observation.provider) {
        auto identity = identity_of(*claim, instances_.cluster_id(), observation.provider->metadata.uid);
        auto in_use = in_use_check(observation);
        result = co_await (*provider)->remove(std::move(identity), record_with_patience(observation),
                                              std::move(in_use));
    } else {
        result = cannot_remove(lookup, provider_key);
    }
    observation.now = api::Time(clock_.wall_now());
    const auto written =
        co_await writer_.record_outcome(observation, after_removal(observation.situation(), result));
    const bool gone = is_true(*written, conditions::kMachineDeleted);
    co_return kube::Result{gone ? base::Duration::zero() : wait_after(result)};
}

asio::awaitable<kube::Result> Remover::stop_machine(Observation observation) {
    const auto claim = observation.claim;
    const auto provider_key = provider_of(*claim);
    const auto lookup = co_await instances_.get(provider_key);
    const auto* provider = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    auto* stopper = provider ? (*provider)->capabilities().machine_stopper : nullptr;
    providers::StopResult result = cannot_remove(lookup, provider_key);
    if (stopper && observation.provider) {
        auto identity = identity_of(*claim, instances_.cluster_id(), observation.provider->metadata.uid);
        auto in_use = in_use_check(observation);
        result =
            co_await stopper->stop(std::move(identity), record_with_patience(observation), std::move(in_use));
    }
    observation.now = api::Time(clock_.wall_now());
    const auto written =
        co_await writer_.record_outcome(observation, after_stop(observation.situation(), result));
    const bool is_done = is_kept(*written) || is_true(*written, conditions::kMachineDeleted);
    co_return kube::Result{is_done ? base::Duration::zero() : wait_after(result)};
}

asio::awaitable<kube::Result> Remover::release_machine(Observation observation) {
    const auto claim = observation.claim;
    const auto provider_key = provider_of(*claim);
    const auto lookup = co_await instances_.get(provider_key);
    const auto* provider = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    if (!provider || !observation.provider) {
        auto status = claim->status;
        const bool is_stated = wait_for_release(status, lookup, *claim, api::Time(clock_.wall_now()));
        co_await writer_.record_outcome(observation, std::move(status));
        co_return kube::Result{is_stated ? base::Duration::zero() : kProviderRetry};
    }
    auto identity = identity_of(*claim, instances_.cluster_id(), observation.provider->metadata.uid);
    const bool released = co_await (*provider)->release(std::move(identity), record_of(claim->status));
    if (!released) co_return kube::Result{kReleaseRetry};
    auto status = claim->status;
    set(status, conditions::kMachineDeleted, ConditionStatus::True, reasons::kRetained,
        "the machine is kept and no longer managed", api::Time(clock_.wall_now()));
    co_await writer_.record_outcome(observation, std::move(status));
    co_return kube::Result{base::Duration::zero()};
}

asio::awaitable<kube::Result> Remover::revoke_token(Observation observation) {
    co_await boot_data_.revoke(observation.claim);
    auto status = observation.claim->status;
    status.bootstrapTokenID.clear();
    co_await writer_.record_outcome(observation, std::move(status));
    co_return kube::Result{base::Duration::zero()};
}

}  // namespace controllers::claim
