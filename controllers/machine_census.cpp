#include "controllers/machine_census.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "controllers/cache/condition_update.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/orphans.hpp"
#include "providers/errors.hpp"

namespace controllers {

namespace {

// Returns the names of at most 50 claims, so that a person can read the list.
std::vector<std::string> names_of(const std::vector<ClaimPointer>& claims) {
    constexpr std::size_t kMostNamed = 50;
    std::vector<std::string> names;
    for (const auto& claim : claims)
        if (names.size() < kMostNamed) names.push_back(claim->metadata.name);
    return names;
}

// Returns nullopt if the provider cannot answer now.
asio::awaitable<std::optional<bool>> is_gone(std::shared_ptr<providers::Provider> backend,
                                             providers::MachineIdentity identity,
                                             providers::MachineRecord record) {
    try {
        const auto machine = co_await backend->get(identity, record);
        co_return !machine;
    } catch (const providers::FencedError&) {
        throw;
    } catch (const std::exception& error) {
        base::log::debug(
            "Cannot tell whether a machine exists",
            {{"claim", identity.claim_name}, {"machine", record.machine_id}, {"error", error.what()}});
        co_return std::nullopt;
    }
}

}  // namespace

asio::awaitable<bool> verified_gone(std::shared_ptr<providers::Provider> backend,
                                    providers::MachineIdentity identity, providers::MachineRecord record) {
    const auto gone = co_await is_gone(std::move(backend), std::move(identity), std::move(record));
    co_return gone.value_or(false);
}

// Clears the report about a machine that is present again.
void MachineCensus::report_found(const ProviderPointer& object,
                                 const std::vector<providers::Machine>& machines) {
    const auto cluster = object->status.cluster ? object->status.cluster->id : std::string();
    for (const auto& machine : machines) {
        const auto claim =
            informers_.claims.store().get({machine.identity.claim_namespace, machine.identity.claim_name});
        if (!claim || !belongs_to(machine, *claim)) continue;
        const auto* last = machine_reports_.of(*claim);
        const bool has_moved = api::is_true(claim->status.conditions, conditions::kLaunched) &&
                               claim->status.host != machine.record.host;
        const bool is_on_other_cluster = !cluster.empty() && claim->status.cluster != cluster;
        const bool is_back = last && last->is_gone;
        if (has_moved || is_on_other_cluster || is_back)
            machine_reports_.report(*claim, {false, machine.record.host, machine.zone, "", cluster});
    }
}

asio::awaitable<void> MachineCensus::report_vanished(ProviderPointer object, Backend backend,
                                                     std::vector<providers::Machine> machines) {
    auto claims = bereft(machines, api::key_of(*object), informers_);
    std::ranges::copy(waiting_for_nothing(machines, api::key_of(*object), informers_),
                      std::back_inserter(claims));
    std::vector<ClaimPointer> vanished;
    std::size_t untold = 0;  // the provider could not answer: they may be gone too
    for (const auto& claim : claims) {
        const auto identity = claim::identity_of(*claim, instances_.cluster_id(), object->metadata.uid);
        const auto gone = co_await is_gone(backend, identity, claim::record_of(claim->status));
        if (!gone) ++untold;
        if (gone.value_or(false)) vanished.push_back(claim);
    }
    const auto all = in_service(api::key_of(*object), informers_);
    std::string how_many;
    if (!vanished.empty() && are_many(vanished.size() + untold, all.size()))
        how_many = std::to_string(vanished.size()) + " of " + base::counted(std::ssize(all), "machine") +
                   " of the provider disappeared at the same time" +
                   (untold > 0 ? ", and " + std::to_string(untold) + " more may have" : "");
    co_await report_many(object, vanished, how_many);
    const auto doubt =
        how_many.empty() ? "" : "and " + how_many + ", so a person has to check whether they are really gone";
    for (const auto& claim : vanished) machine_reports_.report(*claim, {true, "", "", doubt, ""});
}

asio::awaitable<void> MachineCensus::report_many(ProviderPointer object, std::vector<ClaimPointer> vanished,
                                                 std::string how_many) {
    const auto current = informers_.providers.store().get(api::key_of(*object));
    if (!current) co_return;
    std::string message;
    if (!how_many.empty()) {
        const auto named = names_of(vanished);
        message = how_many + ": " + base::joined(named) +
                  ". The operator does not act on this. Check that spec.proxmox leads to the right cluster "
                  "and that its token sees these VMs. If they were really destroyed: kubectl annotate "
                  "nodesmithclaim -n " +
                  object->metadata.namespace_ + " " + base::joined(named, " ") + " " +
                  std::string(api::annotations::kMachineGone) + "=true";
    }
    auto after = *current;
    const auto next =
        update(conditions::kMachinesVanished, ConditionStatus::True, reasons::kManyVanished, message);
    const bool is_news = set_while_told(after.status.conditions, next, api::Time(clock_.wall_now()));
    if (is_news) events_.warning(*object, std::string(reasons::kManyVanished), message);
    co_await write_status(client_, informers_.providers, *current, std::move(after));
}

}  // namespace controllers
