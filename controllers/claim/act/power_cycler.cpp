#include "controllers/claim/act/power_cycler.hpp"

#include "controllers/claim/decide/deadline.hpp"
#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "providers/errors.hpp"

namespace controllers::claim {

using Permission = DisruptionReports::Permission;

namespace {

constexpr auto kPowerPatience = std::chrono::minutes{10};
constexpr base::Duration kPowerPoll = std::chrono::seconds{3};

}  // namespace

asio::awaitable<kube::Result> PowerCycler::step(Observation observation) {
    std::string failure;
    auto status = observation.claim->status;
    try {
        status = co_await switch_power(observation);
    } catch (const providers::FencedError&) {
        throw;
    } catch (const providers::ProviderError& error) {
        failure = error.what();
    }
    const api::Time now(clock_.wall_now());
    if (!failure.empty())
        set(status, conditions::kPowerCycled, ConditionStatus::True, kPowerFailed, failure, now);
    observation.now = now;
    co_await writer_.record_outcome(observation, std::move(status));
    co_return kube::Result{kPowerPoll};
}

asio::awaitable<ClaimStatus> PowerCycler::switch_power(Observation observation) {
    const auto claim = observation.claim;
    auto status = claim->status;
    const auto* state = api::find_condition(status.conditions, conditions::kPowerCycled);
    const auto began = state->lastTransitionTime.value_or(observation.now);
    if (deadline(observation.situation(), began, kPowerPatience) <= observation.now)
        throw providers::ProviderError("the machine could not be switched off and on within " +
                                       api::Duration(kPowerPatience).str());
    const auto lookup = co_await instances_.get(provider_of(*claim));
    const auto* backend = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    if (!observation.provider || !backend) co_return status;
    const bool is_off_wanted =
        state->reason == kSwitchingOff && observation.permission == Permission::switch_off_and_on;
    const auto node = api::key_of(*observation.node);
    const bool is_back = is_off_wanted && co_await is_ready_now(node);
    if (is_back) {
        // The Node recovered by itself while no leader ran or the cache was behind: pods may run on it.
        api::remove_condition(status.conditions, conditions::kPowerCycled);
        co_return status;
    }
    const auto identity = identity_of(*claim, instances_.cluster_id(), observation.provider->metadata.uid);
    const auto wanted = is_off_wanted ? providers::Power::off : providers::Power::on;
    providers::InUseCheck in_use = [this, node] { return is_ready_now(node); };
    const bool is_so =
        co_await (*backend)->switch_power(identity, record_of(status), wanted, std::move(in_use));
    const api::Time now(clock_.wall_now());
    if (is_so && is_off_wanted)
        set(status, conditions::kPowerCycled, ConditionStatus::False, kSwitchingOn, "it is off", now);
    else if (is_so)
        set(status, conditions::kPowerCycled, ConditionStatus::True, kSwitchedOn, "it is on again", now);
    co_return status;
}

asio::awaitable<bool> PowerCycler::is_ready_now(kube::ObjectKey node) {
    const auto live = co_await client_.get<api::Node>(std::move(node));
    co_return (live && is_ready(*live));
}

}  // namespace controllers::claim
