#include "controllers/claim/act/recovery.hpp"

#include <algorithm>
#include <stdexcept>

#include "controllers/state/identity.hpp"
#include "controllers/state/limits.hpp"
#include "controllers/state/template_hash.hpp"

namespace controllers::claim {

namespace {

constexpr std::string_view kSeveralMachines = "SeveralMachines";  // Launched
constexpr std::string_view kMachineNotShown = "MachineNotShown";  // Launched
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

// A Node that shows the UUID of an attempt of the claim: its machine exists, or did until a moment ago,
// though a provider whose token lost rights does not show it.
std::string node_of_an_attempt(const Informers& informers, const NodeSmithClaim& claim) {
    constexpr std::int32_t kMostAttempts = 8;
    for (std::int32_t attempt = 1; attempt <= kMostAttempts; ++attempt) {
        const auto uuid = system_uuid(claim.metadata.uid, attempt);
        for (const auto& form : {uuid, byte_swapped(uuid)})
            for (const auto& node : informers.nodes.store().by_index(kNodesBySystemUuid, form))
                return node->metadata.name;
    }
    return {};
}

std::string described(const providers::Machine& machine) {
    return machine.record.machine_id + " on host " + machine.record.host;
}

}  // namespace

asio::awaitable<kube::Result> Recovery::wait(Observation observation, std::string_view reason,
                                             std::string message) {
    auto status = after_failed_launch(observation.situation(), reason, message);
    co_await writer_.record(observation, std::move(status));
    co_return kube::Result{kProviderRetry};
}

asio::awaitable<std::optional<kube::Result>> Recovery::take_up(Observation observation) {
    if (!observation.provider) co_return std::nullopt;
    const auto lookup = co_await instances_.get(api::key_of(*observation.provider));
    if (const auto* missing = std::get_if<ProviderUnavailable>(&lookup))
        co_return co_await wait(std::move(observation), missing->reason, missing->message);
    const auto* ready = api::find_condition(observation.provider->status.conditions, conditions::kReady);
    if (ready && ready->status == api::ConditionStatus::False)
        co_return co_await wait(std::move(observation), reasons::kProviderNotReady,
                                "whether a machine of this claim exists is not known: " + ready->message);
    const auto machines = co_await std::get<std::shared_ptr<providers::Provider>>(lookup)->list();
    std::vector<providers::Machine> own;
    std::string unread;
    for (const auto& machine : machines) {
        if (machine.identity.claim_uid == observation.claim->metadata.uid) own.push_back(machine);
        if (machine.identity.claim_uid.empty()) unread = described(machine);
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
    const auto node = node_of_an_attempt(informers_, *observation.claim);
    if (!node.empty())
        co_return co_await wait(std::move(observation), kMachineNotShown,
                                "Node " + node +
                                    " shows a system UUID of this claim, but its provider shows no such "
                                    "machine. No second one is made: give the provider's account its rights "
                                    "back, or delete the Node if its machine is gone");
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
