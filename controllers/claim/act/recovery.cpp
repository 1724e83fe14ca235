#include "controllers/claim/act/recovery.hpp"

#include <algorithm>

#include "controllers/state/identity.hpp"
#include "controllers/state/limits.hpp"
#include "controllers/state/template_hash.hpp"
#include "kube/resource_version.hpp"
#include "providers/errors.hpp"

namespace controllers::claim {

namespace {

constexpr base::Duration kUnreadRetry = std::chrono::seconds{30};

// Returns a Ready Node with the UUID of one of the claim's attempts; empty: none. Its machine then exists,
// even if the provider's account lost the right to see it.
std::string node_of_an_attempt(const Informers& informers, const NodeSmithClaim& claim) {
    constexpr std::int32_t kMostAttempts = 8;
    for (std::int32_t attempt = 1; attempt <= kMostAttempts; ++attempt) {
        const auto uuid = system_uuid(claim.metadata.uid, attempt);
        for (const auto& form : {uuid, byte_swapped(uuid)})
            for (const auto& node : informers.nodes.store().by_index(kNodesBySystemUuid, form))
                if (api::is_true(node->status.conditions, conditions::kReady)) return node->metadata.name;
    }
    return {};
}

// Returns the pool's provider. If the pool is gone, returns every provider that the claim may have used.
std::vector<ProviderPointer> possible_providers(const Informers& informers, const Observation& observation) {
    if (observation.provider) return {observation.provider};
    std::vector<ProviderPointer> result;
    for (const auto& [key, provider] : informers.providers.store().all())
        if (key.namespace_ == observation.claim->metadata.namespace_) result.push_back(provider);
    return result;
}

// Reports whether the claim lost what its status showed of a machine. Attempts only grow, except if somebody
// restores or replaces the status.
bool has_gone_back(const NodeSmithClaim& before, const NodeSmithClaim& after) {
    const bool is_restored = kube::is_newer(before.metadata.resourceVersion, after.metadata.resourceVersion);
    const bool lost_machine =
        !before.status.machineID.empty() && before.status.machineID != after.status.machineID;
    return after.status.launchAttempts < before.status.launchAttempts || (is_restored && lost_machine);
}

std::string described(const providers::Machine& machine) {
    return machine.record.machine_id + " on host " + machine.record.host;
}

}  // namespace

void Recovery::subscribe() {
    informers_.claims.on_change([this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
        if (!before) return;
        if (!after || after->metadata.uid != before->metadata.uid)
            went_back_.erase(before->metadata.uid);
        else if (has_gone_back(*before, *after))
            went_back_.insert(after->metadata.uid);
    });
}

void Recovery::begin() {
    began_ = api::Time(clock_.wall_now());
}

Observation Recovery::with_memories(Observation observation) const {
    const auto& metadata = observation.claim->metadata;
    observation.went_back = went_back_.contains(metadata.uid);
    observation.predates_us = !began_ || metadata.creationTimestamp <= *began_;
    return observation;
}

// Reports whether the status of another claim names the machine or the task that makes it, whether or not its
// mark can be read. Providers may share a cluster.
bool Recovery::is_of_another(const NodeSmithProvider& provider, const NodeSmithClaim& claim,
                             const providers::MachineRecord& record) const {
    const auto own = api::key_of(provider);
    const auto& cluster = provider.status.cluster;
    return std::ranges::any_of(informers_.claims.store().all(), [&](const auto& entry) {
        const auto& other = *entry.second;
        const bool is_there = provider_of(other) == own ||
                              (cluster && !cluster->id.empty() && other.status.cluster == cluster->id);
        const bool is_its = (!record.machine_id.empty() && other.status.machineID == record.machine_id) ||
                            (!record.task.empty() && other.status.taskRef == record.task);
        return is_there && is_its && other.metadata.uid != claim.metadata.uid &&
               !is_true(other, conditions::kMachineDeleted);
    });
}

asio::awaitable<kube::Result> Recovery::wait(Observation observation, std::string_view reason,
                                             std::string message) {
    if (observation.claim->metadata.deletionTimestamp)
        message += ". The claim is deleted once this is settled; if it has no machine, annotate it with " +
                   std::string(api::annotations::kMachineGone) + "=true";
    auto status = after_failed_launch(observation.situation(), reason, message);
    co_await writer_.record(observation, std::move(status));
    co_return kube::Result{kUnreadRetry};
}

asio::awaitable<Recovery::Found> Recovery::look(ProviderPointer provider, const NodeSmithClaim& claim) {
    Found found;
    const auto* ready = api::find_condition(provider->status.conditions, conditions::kReady);
    if (ready && ready->reason == reasons::kMissingPrivileges)
        found.obstacle = "the provider's account lacks rights: " + ready->message;
    const auto lookup = co_await instances_.get(api::key_of(*provider));
    if (const auto* missing = std::get_if<ProviderUnavailable>(&lookup)) {
        found.obstacle = missing->message;
        co_return found;
    }
    const auto backend = std::get<std::shared_ptr<providers::Provider>>(lookup);
    // The list is read later, so it shows what is finished meanwhile.
    const auto half_made = co_await half_made_of(provider, claim, backend);
    if (!half_made.empty()) found.obstacle = half_made;
    try {
        const auto machines = co_await backend->list();
        for (const auto& machine : machines) {
            if (machine.identity.claim_uid == claim.metadata.uid) found.own.push_back(machine);
            if (machine.identity.claim_uid.empty() && !is_of_another(*provider, claim, machine.record))
                found.obstacle =
                    "the description of machine " + described(machine) + " could not be read yet";
        }
    } catch (const providers::FencedError&) {
        throw;  // this process is no longer the leader
    } catch (const providers::ProviderError& error) {
        found.obstacle = error.what();
    }
    co_return found;
}

asio::awaitable<std::string> Recovery::half_made_of(ProviderPointer provider, const NodeSmithClaim& claim,
                                                    std::shared_ptr<providers::Provider> backend) {
    auto* finder = backend->capabilities().leftover_finder;
    if (!finder) co_return std::string();
    try {
        const auto under_way = co_await finder->under_way();
        for (const auto& made : under_way)
            if (!is_of_another(*provider, claim, made.record)) co_return "it may be " + made.message;
    } catch (const providers::FencedError&) {
        throw;  // this process is no longer the leader
    } catch (const providers::ProviderError& error) {
        co_return error.what();
    }
    co_return std::string();
}

asio::awaitable<std::optional<kube::Result>> Recovery::take_up(Observation observation) {
    std::vector<std::pair<providers::Machine, ProviderPointer>> own;
    std::string obstacle;
    for (const auto& provider : possible_providers(informers_, observation)) {
        const auto found = co_await look(provider, *observation.claim);
        for (const auto& machine : found.own) own.emplace_back(machine, provider);
        if (!found.obstacle.empty()) obstacle = found.obstacle;
    }
    const auto proves = [](const auto& entry) { return entry.first.is_unfinished || is_proven(entry.first); };
    const bool is_any_proven = std::ranges::any_of(own, proves);
    if (is_any_proven) std::erase_if(own, [&](const auto& entry) { return !proves(entry); });
    if (!own.empty() && !is_any_proven)
        co_return co_await wait(std::move(observation), kMarkOfOther,
                                "machine " + described(own.front().first) +
                                    " carries the mark of this claim, which has lost its status, but its "
                                    "system UUID is not derived from this claim. No second machine is "
                                    "created: restore the claim's status, or destroy this machine");
    if (own.size() > 1)
        co_return co_await wait(std::move(observation), kSeveralMachines,
                                "machines " + described(own[0].first) + " and " + described(own[1].first) +
                                    " carry the mark of this claim, whose status does not say which of them "
                                    "belongs to it: destroy the one that is not needed");
    if (own.size() == 1) {
        observation.provider = own.front().second;
        auto found = std::move(own.front().first);
        if (found.is_unfinished)
            found.identity.system_uuid = system_uuid(found.identity.claim_uid, found.identity.attempt);
        auto machine = co_await as_it_stands(observation.provider, std::move(found));
        co_return co_await record(std::move(observation), std::move(machine));
    }
    if (!obstacle.empty())
        co_return co_await wait(
            std::move(observation), kMachineNotKnown,
            "the claim may have lost its status, and it is not known whether it has a machine: " + obstacle);
    const auto node = node_of_an_attempt(informers_, *observation.claim);
    if (!node.empty())
        co_return co_await wait(std::move(observation), kMachineNotShown,
                                "Node " + node +
                                    " has a system UUID of this claim, but the provider shows no such "
                                    "machine. No second one is created: restore the rights of the provider's "
                                    "account, or delete the Node if its machine is gone");
    went_back_.erase(observation.claim->metadata.uid);
    co_return std::nullopt;
}

// Reads the machine's present state. Lists contain the state when the machine's host was last heard.
asio::awaitable<providers::Machine> Recovery::as_it_stands(ProviderPointer provider,
                                                           providers::Machine machine) {
    auto now = machine;
    now.state = providers::MachineState::starting;
    now.message = "machine " + described(machine) + " was found, but it is not known whether it runs";
    const auto lookup = co_await instances_.get(api::key_of(*provider));
    const auto* instance = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    if (!instance) co_return now;
    try {
        const auto found = co_await (*instance)->get(machine.identity, machine.record);
        if (found) now.state = found->state;
        if (found) now.message = found->message;
    } catch (const providers::FencedError&) {
        throw;  // this process is no longer the leader
    } catch (const providers::ProviderError& error) {
        now.message += std::string(": ") + error.what();
    }
    co_return now;
}

asio::awaitable<kube::Result> Recovery::record(Observation observation, providers::Machine machine) {
    const auto& claim = *observation.claim;
    auto status = claim.status;
    if (observation.went_back) {
        forget_attempt(status, {}, observation.now);
        status.nextRetryTime.reset();
    }
    status.observedGeneration = claim.metadata.generation;
    status.providerRef = observation.provider->metadata.name;
    if (!machine.is_bare_metal) status.launchAttempts = static_cast<std::int32_t>(machine.identity.attempt);
    status.launchAttempts = std::max(status.launchAttempts, std::int32_t{1});
    status.systemUUID = machine.identity.system_uuid;
    if (observation.pool) {
        status.size = size_text(limits::size_of(claim.spec, observation.pool.get()));
        status.templateHash = template_hash(*observation.pool, observation.provider.get());
        status.addresses.clear();
        for (const auto& reservation : observation.pool->status.addresses)
            if (reservation.claim == claim.metadata.name) status.addresses.push_back(reservation.address);
    }
    events_.warning(
        claim, "MachineFound",
        "machine " + described(machine) +
            " carries the mark of this claim, which had lost its status: the claim manages it again");
    const auto ahead = observation.ahead(std::move(status));
    auto found = after_ensure(ahead.situation(), std::move(machine));
    co_await writer_.record(observation, std::move(found));
    went_back_.erase(claim.metadata.uid);
    co_return kube::Result{base::Duration::zero()};
}

}  // namespace controllers::claim
