#include "controllers/claim/act/recovery.hpp"
#include "controllers/claim/state/doubtful_machine.hpp"

#include <algorithm>
#include <iterator>

#include "controllers/claim/decide/launch.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/template_hash.hpp"
#include "controllers/limits/limits.hpp"
#include "kube/resource_version.hpp"
#include "providers/errors.hpp"

namespace controllers::claim {

namespace {

constexpr base::Duration kUnreadRetry = std::chrono::seconds{30};

// Reports whether the recorded attempt has neither ended nor failed to begin.
bool goes_on(const ClaimStatus& status) {
    return !status.systemUUID.empty() && !api::is_true(status.conditions, conditions::kMachineDeleted);
}

// Reports whether the recorded attempt began this task. While it runs, that attempt is the last one, unless a
// person declared its machine gone. The account may not see the machine before the task has ended.
bool is_recorded_task(const ClaimStatus& status, const std::string& task) {
    return goes_on(status) && !task.empty() && status.taskRef == task;
}

// Returns the first attempt whose machine the status may lack. Attempts only grow, and one begins only after
// the machine of the one before is gone or was declared gone.
std::int32_t first_unknown(const ClaimStatus& status) {
    return goes_on(status) ? status.launchAttempts : status.launchAttempts + 1;
}

bool is_past(const ClaimStatus& status, const providers::Machine& machine) {
    return !machine.is_bare_metal && machine.identity.attempt < first_unknown(status);
}

// Returns a Ready Node with the UUID of an attempt whose machine the status lacks; empty: none. That machine
// then exists, even if the provider's account lost the right to see it.
std::string node_of_unknown_attempt(const Informers& informers, const NodeSmithClaim& claim) {
    constexpr std::int32_t kMostAttempts = 8;
    const auto& status = claim.status;
    const auto first = status.machineID.empty() ? first_unknown(status) : status.launchAttempts + 1;
    for (std::int32_t attempt = first; attempt < first + kMostAttempts; ++attempt) {
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

// Tells the machines of a claim's attempts apart. Several attempts may have the same host.
std::string machine_of(const ClaimStatus& status) {
    return status.systemUUID.empty() ? "" : status.systemUUID + "/" + std::to_string(status.launchAttempts);
}

bool has_lost_service(const NodeSmithClaim& before, const NodeSmithClaim& after) {
    return is_true(before, conditions::kRegistered) && !is_true(after, conditions::kRegistered);
}

// Reports whether somebody else took away what the status showed of a machine. A restored claim may have been
// written since, so its version proves nothing.
bool has_gone_back(const NodeSmithClaim& before, const NodeSmithClaim& after) {
    const bool lost_machine =
        !before.status.machineID.empty() && before.status.machineID != after.status.machineID;
    return after.status.launchAttempts < before.status.launchAttempts || lost_machine ||
           has_lost_service(before, after);
}

// Reports whether a claim that is being deleted has no machine at a provider that cannot be asked without its
// Secret, which is gone or may not be read. The provider records its Secret before its first machine is made,
// and until no claim of its pools is left. A claim that stays waits for the Secret, which it needs for its
// launch.
bool never_had_machine(const Informers& informers, const NodeSmithClaim& claim,
                       const NodeSmithProvider& provider, const ProviderUnavailable& why) {
    const auto pool = informers.pools.store().get({claim.metadata.namespace_, claim.spec.poolRef});
    const bool is_without_secret =
        why.reason == reasons::kSecretMissing || why.reason == reasons::kSecretForbidden;
    return claim.metadata.deletionTimestamp && pool && is_without_secret &&
           provider.status.protectedSecret.empty();
}

std::string described(const providers::Machine& machine) {
    return machine.record.machine_id + " on host " + machine.record.host;
}

// Records that what the status told of the machine's service was lost. Without its Node, nothing else tells
// a machine that served from one that never joined.
void note_loss(ClaimStatus& status, const providers::MachineRecord& record, api::Time now) {
    set(status, conditions::kStatusLost, ConditionStatus::True, reasons::kTakenUp,
        "the claim lost its status and took machine " + record.machine_id + " on host " + record.host +
            " up again; it is not known whether the machine has been in service",
        now);
}

}  // namespace

void Recovery::subscribe() {
    informers_.claims.on_change([this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
        if (!before) return;
        if (!after || after->metadata.uid != before->metadata.uid) {
            went_back_.erase(before->metadata.uid);
            looked_.erase(before->metadata.uid);
        } else if (!writer_.is_recording() && has_gone_back(*before, *after)) {
            auto& served = went_back_[after->metadata.uid];
            if (has_lost_service(*before, *after)) served = machine_of(before->status);
        }
    });
}

void Recovery::begin() {
    began_ = api::Time(clock_.wall_now());
    for (const auto& [key, claim] : informers_.claims.store().all()) existed_.insert(claim->metadata.uid);
}

// The API server's clock may have gone back, so a claim that existed before may have a later time of
// creation. A claim that no informer showed before is recognized by its time.
Observation Recovery::with_memories(Observation observation) const {
    const auto& metadata = observation.claim->metadata;
    observation.went_back = went_back_.contains(metadata.uid);
    const bool predates_us =
        !began_ || existed_.contains(metadata.uid) || metadata.creationTimestamp <= *began_;
    if (began_) observation.leads_since = *began_;
    observation.is_unchecked = predates_us && !looked_.contains(metadata.uid);
    return observation;
}

bool Recovery::may_have_unknown_machine(ClaimPointer claim) const {
    Observation observation;
    observation.claim = std::move(claim);
    return may_have_lost_status(with_memories(std::move(observation)).situation());
}

void Recovery::note_looked(const std::string& uid) {
    went_back_.erase(uid);
    looked_.insert(uid);
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
        const bool had_one = went_back_.contains(claim.metadata.uid);
        if (had_one || !never_had_machine(informers_, claim, *provider, *missing))
            found.obstacle = missing->message;
        co_return found;
    }
    const auto backend = std::get<std::shared_ptr<providers::Provider>>(lookup);
    // The list is read later, so it shows what is finished meanwhile.
    const auto half_made = co_await half_made_of(provider, claim, backend);
    if (!half_made.obstacle.empty()) found.obstacle = half_made.obstacle;
    found.is_making_recorded = half_made.is_recorded;
    try {
        auto machines = co_await backend->list();
        if (auto* finder = backend->capabilities().leftover_finder) {
            auto unfinished = co_await finder->unfinished(claim.metadata.name);
            std::ranges::move(unfinished, std::back_inserter(machines));
        }
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

asio::awaitable<Recovery::UnderWay> Recovery::half_made_of(ProviderPointer provider,
                                                           const NodeSmithClaim& claim,
                                                           std::shared_ptr<providers::Provider> backend) {
    UnderWay result;
    auto* finder = backend->capabilities().leftover_finder;
    if (!finder) co_return result;
    try {
        const auto under_way = co_await finder->under_way();
        for (const auto& made : under_way) {
            if (made.is_removal) continue;
            if (is_recorded_task(claim.status, made.record.task))
                result.is_recorded = true;
            else if (!is_of_another(*provider, claim, made.record))
                result.obstacle = "it may be " + made.message;
        }
    } catch (const providers::FencedError&) {
        throw;  // this process is no longer the leader
    } catch (const providers::ProviderError& error) {
        result.obstacle = error.what();
    }
    co_return result;
}

asio::awaitable<bool> Recovery::has_recorded(const Observation& observation, const Own& own) {
    const auto& claim = *observation.claim;
    const auto record = record_of(claim.status);
    if (record.machine_id.empty() || !goes_on(claim.status)) co_return false;
    const bool is_listed = std::ranges::any_of(own, [&](const auto& entry) {
        const auto& [machine, provider] = entry;
        return machine.record.machine_id == record.machine_id &&
               (machine.is_bare_metal || machine.identity.attempt == claim.status.launchAttempts);
    });
    if (is_listed || !observation.provider) co_return is_listed;
    const auto lookup = co_await instances_.get(provider_of(claim));
    const auto* backend = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    if (!backend) co_return false;
    const auto identity = identity_of(claim, instances_.cluster_id(), observation.provider->metadata.uid);
    try {
        const auto machine = co_await (*backend)->get(identity, record);
        co_return machine.has_value();
    } catch (const providers::FencedError&) {
        throw;  // this process is no longer the leader
    } catch (const providers::ProviderError&) {
        co_return false;  // the obstacle remains, and the next look asks again
    }
}

asio::awaitable<std::optional<kube::Result>> Recovery::take_up(Observation observation) {
    Own own;
    std::string obstacle;
    bool is_settled = false;
    for (const auto& provider : possible_providers(informers_, observation)) {
        const auto found = co_await look(provider, *observation.claim);
        for (const auto& machine : found.own) own.emplace_back(machine, provider);
        if (!found.obstacle.empty()) obstacle = found.obstacle;
        if (found.is_making_recorded) is_settled = true;
    }
    std::erase_if(own, [&](const auto& entry) { return is_past(observation.claim->status, entry.first); });
    const auto node = node_of_unknown_attempt(informers_, *observation.claim);
    if (!is_settled) is_settled = co_await has_recorded(observation, own);
    if (is_settled) {
        const auto& claim = *observation.claim;
        const bool is_told =
            is_true(claim, conditions::kRegistered) || is_true(claim, conditions::kStatusLost);
        const auto lost = went_back_.find(claim.metadata.uid);
        // The leader before us may have given up other machines of this claim, as a standby sees.
        const bool has_served =
            lost != went_back_.end() && !lost->second.empty() && lost->second == machine_of(claim.status);
        if (!has_served || is_told) {
            note_looked(claim.metadata.uid);
            co_return std::nullopt;
        }
        auto status = claim.status;
        note_loss(status, record_of(claim.status), observation.now);
        co_await writer_.record(observation, std::move(status));
        note_looked(claim.metadata.uid);
        co_return kube::Result{base::Duration::zero()};
    }
    const auto proves = [](const auto& entry) { return entry.first.is_unfinished || is_proven(entry.first); };
    const bool is_any_proven = std::ranges::any_of(own, proves);
    if (is_any_proven) std::erase_if(own, [&](const auto& entry) { return !proves(entry); });
    if (!own.empty() && !is_any_proven)
        co_return co_await wait(std::move(observation), kMarkOfOther,
                                "machine " + described(own.front().first) +
                                    " carries the mark of this claim, which has lost its status, but its "
                                    "system UUID is not derived from this claim. No second machine is "
                                    "created. First see whose it is, for it may be a copy that somebody "
                                    "restored (Proxmox: qm config). Then restore the claim's status, or "
                                    "remove the mark from the machine, or the machine if nobody needs it");
    if (own.size() > 1)
        co_return co_await wait(std::move(observation), kSeveralMachines,
                                "machines " + described(own[0].first) + " and " + described(own[1].first) +
                                    " carry the mark of this claim, whose status does not say which of them "
                                    "belongs to it. First see which of them is in use and whose it is "
                                    "(Proxmox: qm config), then remove the mark from the other one, or the "
                                    "machine if nobody needs it");
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
    if (!node.empty())
        co_return co_await wait(
            std::move(observation), kMachineNotShown,
            "Node " + node +
                " has a system UUID of this claim, but the provider shows no such "
                "machine. No second one is created: restore the rights of the provider's "
                "account, or the mark (description and tag) that somebody removed from the "
                "machine, or delete the Node if its machine is gone");
    note_looked(observation.claim->metadata.uid);
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
    forget_attempt(status, {}, observation.now);
    status.nextRetryTime.reset();
    if (has_reason(status, conditions::kDisrupted, reasons::kMachineVanished))
        api::remove_condition(status.conditions, conditions::kDisrupted);
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
    if (!machine.is_unfinished) note_loss(status, machine.record, observation.now);
    events_.warning(
        claim, "MachineFound",
        "machine " + described(machine) +
            " carries the mark of this claim, which had lost its status: the claim manages it again");
    const auto ahead = observation.ahead(std::move(status));
    auto found = after_ensure(ahead.situation(), std::move(machine));
    co_await writer_.record(observation, std::move(found));
    note_looked(claim.metadata.uid);
    co_return kube::Result{base::Duration::zero()};
}

}  // namespace controllers::claim
