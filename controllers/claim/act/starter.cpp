#include "controllers/claim/act/starter.hpp"

#include "base/log.hpp"
#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "providers/errors.hpp"
#include "providers/provider.hpp"

namespace controllers::claim {

namespace {

constexpr base::Duration kLookAgain = std::chrono::minutes{1};

// Returns how long to wait before the next query.
base::Duration pause_after(const providers::RestartResult& result) {
    if (const auto* waits = std::get_if<providers::WaitsForStart>(&result)) return waits->retry_after;
    if (const auto* fails = std::get_if<providers::StartFails>(&result)) return fails->retry_after;
    return kLookAgain;
}

}  // namespace

ClaimStatus after_vain_restart(const Situation& s, const std::string& message) {
    auto status = s.claim.status;
    // The known state of a stopped machine says more.
    if (!api::is_true(status.conditions, conditions::kPoweredOff))
        set(status, conditions::kPoweredOff, ConditionStatus::Unknown, reasons::kProviderError,
            "it is not known whether the machine is off, or it cannot be started again: " + message, s.now);
    return status;
}

ClaimStatus after_restart(const Situation& s, const providers::RestartResult& result) {
    auto status = s.claim.status;
    const auto off = [&](std::string_view reason, const std::string& message) {
        set(status, conditions::kPoweredOff, ConditionStatus::True, reason, message, s.now);
    };
    if (const auto* waits = std::get_if<providers::WaitsForStart>(&result))
        off(reasons::kStarting, waits->message);
    else if (const auto* full = std::get_if<providers::NoRoomToStart>(&result))
        off(reasons::kWaitingForRoom, full->message);
    else if (const auto* fails = std::get_if<providers::StartFails>(&result))
        off(reasons::kStartFailed, fails->message);
    else if (const auto* left = std::get_if<providers::LeftOff>(&result))
        off(reasons::kSwitchedOffByOthers, left->message);
    else if (const auto* down = std::get_if<providers::HostIsDown>(&result))
        // The Node cannot return before its host does.
        set(status, conditions::kPoweredOff, ConditionStatus::Unknown, reasons::kHostUnreachable,
            down->message, s.now);
    else
        api::remove_condition(status.conditions, conditions::kPoweredOff);
    return status;
}

asio::awaitable<kube::Result> Starter::step(Observation observation) {
    const auto key = api::key_of(*observation.claim);
    if (const auto known = next_.find(key); known != next_.end() && clock_.now() < known->second)
        co_return kube::Result{known->second - clock_.now()};
    // Set before the query, because a failing query must be followed by a pause too.
    next_[key] = clock_.now() + kLookAgain;
    const auto wait = co_await ask(std::move(observation));
    next_[key] = clock_.now() + wait;
    co_return kube::Result{wait};
}

asio::awaitable<base::Duration> Starter::ask(Observation observation) {
    const auto claim = observation.claim;
    const auto lookup = co_await instances_.get(provider_of(*claim));
    const auto* backend = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    if (!observation.provider || !backend) co_return kLookAgain;
    auto* starter = (*backend)->capabilities().machine_starter;
    if (!starter) co_return kLookAgain;
    const auto identity = identity_of(*claim, instances_.cluster_id(), observation.provider->metadata.uid);
    std::variant<providers::RestartResult, std::string> answer;
    try {
        answer = co_await starter->start_again(identity, record_of(claim->status));
    } catch (const providers::FencedError&) {
        throw;
    } catch (const providers::ProviderError& error) {
        base::log::warning("Cannot check or start a machine that may be off",
                           {{"claim", api::key_of(*claim).str()}, {"error", error.what()}});
        answer = std::string(error.what());
    }
    observation.now = api::Time(clock_.wall_now());
    const auto* failure = std::get_if<std::string>(&answer);
    const auto* result = std::get_if<providers::RestartResult>(&answer);
    auto status = failure ? after_vain_restart(observation.situation(), *failure)
                          : after_restart(observation.situation(), *result);
    const auto wait = failure ? kLookAgain : pause_after(*result);
    co_await writer_.record(observation, std::move(status));
    co_return wait;
}

}  // namespace controllers::claim
