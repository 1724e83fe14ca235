#include "controllers/claim/act/recovery.hpp"

#include <algorithm>
#include <stdexcept>

#include "controllers/state/identity.hpp"
#include "controllers/state/limits.hpp"
#include "controllers/state/template_hash.hpp"
#include "providers/errors.hpp"

namespace controllers::claim {

namespace {

constexpr std::string_view kSeveralMachines = "SeveralMachines";  // Launched
constexpr base::Duration kUnreadRetry = std::chrono::seconds{30};

// Its UUID follows from its mark: a clone has another one, and so has a machine that was adopted.
bool is_proven(const providers::Machine& machine) {
    const auto& identity = machine.identity;
    if (machine.is_bare_metal) return true;
    try {
        return same_uuid(identity.system_uuid, system_uuid(identity.claim_uid, identity.attempt));
    } catch (const std::invalid_argument&) {
        return false;
    }
}

std::string described(const providers::Machine& machine) {
    return machine.record.machine_id + " on host " + machine.record.host;
}

}  // namespace

// That one's own status tells whose it is, whether its mark can be read or not. Providers may share a
// cluster.
bool Recovery::is_of_another(const Observation& observation, const providers::Machine& machine) const {
    const auto own = api::key_of(*observation.provider);
    const auto& cluster = observation.provider->status.cluster;
    return std::ranges::any_of(informers_.claims.store().all(), [&](const auto& entry) {
        const auto& other = *entry.second;
        const bool is_there = provider_of(other) == own ||
                              (cluster && !cluster->id.empty() && other.status.cluster == cluster->id);
        return is_there && other.metadata.uid != observation.claim->metadata.uid &&
               other.status.machineID == machine.record.machine_id &&
               !is_true(other, conditions::kMachineDeleted);
    });
}

asio::awaitable<kube::Result> Recovery::wait(Observation observation, std::string_view reason,
                                             std::string message) {
    if (observation.claim->metadata.deletionTimestamp) {
        // Its deletion would go on if nothing said that it must not yet.
        reason = kMachineSought;
        message =
            "this claim has lost its status, and ends only once it is known whether it has a machine: " +
            message + ". If it has none: kubenodesmith.io/machine-gone=true on the claim";
    }
    auto status = after_failed_launch(observation.situation(), reason, message);
    co_await writer_.record(observation, std::move(status));
    co_return kube::Result{kProviderRetry};
}

asio::awaitable<std::optional<kube::Result>> Recovery::take_up(Observation observation) {
    if (!observation.provider) co_return std::nullopt;
    const auto lookup = co_await instances_.get(api::key_of(*observation.provider));
    if (const auto* missing = std::get_if<ProviderUnavailable>(&lookup))
        co_return co_await wait(std::move(observation), missing->reason, missing->message);
    std::vector<providers::Machine> machines;
    std::string silence;
    try {
        machines = co_await std::get<std::shared_ptr<providers::Provider>>(lookup)->list();
    } catch (const providers::FencedError&) {
        throw;
    } catch (const providers::ProviderError& error) {
        if (!observation.claim->metadata.deletionTimestamp) throw;
        silence = error.what();
    }
    if (!silence.empty())
        co_return co_await wait(std::move(observation), reasons::kProviderError, std::move(silence));
    std::vector<providers::Machine> own;
    std::string unread;
    for (const auto& machine : machines) {
        if (machine.identity.claim_uid == observation.claim->metadata.uid) own.push_back(machine);
        if (machine.identity.claim_uid.empty() && !is_of_another(observation, machine))
            unread = described(machine);
    }
    const bool is_any_proven = std::ranges::any_of(own, is_proven);
    if (is_any_proven) std::erase_if(own, [](const auto& machine) { return !is_proven(machine); });
    if (!own.empty() && !is_any_proven)
        co_return co_await wait(std::move(observation), reasons::kMarkMismatch,
                                "machine " + described(own.front()) +
                                    " bears the mark of this claim, which has lost its status, but another "
                                    "system UUID than follows from it. No second machine is made: give the "
                                    "claim its status back, or destroy what has the mark");
    if (own.size() > 1)
        co_return co_await wait(std::move(observation), kSeveralMachines,
                                "machines " + described(own[0]) + " and " + described(own[1]) +
                                    " bear the mark of this claim, whose status does not say which of them "
                                    "is its own: destroy the other one");
    if (own.size() == 1) co_return co_await record(std::move(observation), std::move(own.front()));
    if (!unread.empty()) {
        auto result = co_await wait(
            std::move(observation), reasons::kProviderNotReady,
            "whether machine " + unread + " is this claim's is not known before its description can be read");
        result.requeue_after = kUnreadRetry;
        co_return result;
    }
    co_return std::nullopt;
}

asio::awaitable<kube::Result> Recovery::record(Observation observation, providers::Machine machine) {
    const auto& claim = *observation.claim;
    auto status = claim.status;
    status.observedGeneration = claim.metadata.generation;
    status.providerRef = observation.provider->metadata.name;
    if (!machine.is_bare_metal) status.launchAttempts = static_cast<std::int32_t>(machine.identity.attempt);
    status.launchAttempts = std::max(status.launchAttempts, std::int32_t{1});
    status.systemUUID = machine.identity.system_uuid;
    if (observation.pool) {
        status.size = size_text(limits::size_of(claim.spec, observation.pool.get()));
        status.templateHash = template_hash(*observation.pool, observation.provider.get());
        for (const auto& reservation : observation.pool->status.addresses)
            if (reservation.claim == claim.metadata.name) status.addresses.push_back(reservation.address);
    }
    events_.warning(claim, "MachineFound",
                    "machine " + described(machine) +
                        " bears the mark of this claim, which had lost its status: it is taken up again");
    const auto ahead = observation.ahead(std::move(status));
    auto found = after_ensure(ahead.situation(), std::move(machine));
    co_await writer_.record(observation, std::move(found));
    co_return kube::Result{base::Duration::zero()};
}

}  // namespace controllers::claim
