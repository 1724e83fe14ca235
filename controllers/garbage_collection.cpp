#include "controllers/garbage_collection.hpp"

#include <algorithm>
#include <utility>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/orphans.hpp"
#include "kube/watches.hpp"
#include "providers/capabilities.hpp"
#include "providers/errors.hpp"
#include "providers/removal.hpp"

namespace controllers {

namespace {

constexpr base::Duration kInterval = std::chrono::minutes{3};
constexpr base::Duration kWhileCollecting = std::chrono::seconds{15};
constexpr base::Backoff kRemovalPause{kWhileCollecting, kInterval};
constexpr int kManyAttempts = 5;  // an undisturbed removal takes fewer

base::Duration grace_of(const NodeSmithProvider& provider) {
    return provider.spec.orphanGracePeriod.value;
}

bool answers(const NodeSmithProvider& provider) {
    return api::is_true(provider.status.conditions, conditions::kReachable);
}

// Reports whether the machine belongs to a claim's running attempt. That claim's reconciler takes care of it.
bool is_being_launched(const providers::MachineRecord& record, const kube::ObjectKey& provider,
                       const Informers& informers) {
    for (const auto& [key, claim] : informers.claims.store().all()) {
        const auto& status = claim->status;
        const bool is_its = key.namespace_ == provider.namespace_ && status.providerRef == provider.name &&
                            status.host == record.host && status.machineID == record.machine_id;
        if (is_its && !claim->metadata.deletionTimestamp &&
            !api::find_condition(status.conditions, conditions::kMachineDeleted))
            return true;
    }
    return false;
}

std::vector<std::string> provider_labels() {
    return {"namespace", "provider"};
}

}  // namespace

GarbageCollector::GarbageCollector(const Context& context, ProviderInstances& instances,
                                   MachineReports& machine_reports)
    : InContext(context),
      instances_(instances),
      census_(context, instances, machine_reports),
      orphans_(context.metrics.gauge(
          "kubenodesmith_orphan_machines",
          "Machines with the operator's mark that no claim owns, and leftovers of unfinished creations.",
          provider_labels())),
      removed_(context.metrics.counter("kubenodesmith_orphan_machines_removed_total",
                                       "Removals of machines that no claim owned.", provider_labels())) {}

void GarbageCollector::subscribe(kube::WorkQueue& queue) {
    kube::watch(informers_.providers).changed(kube::kGeneration, answers).enqueue(queue);
}

asio::awaitable<kube::Result> GarbageCollector::reconcile(kube::ObjectKey key) {
    const auto object = informers_.providers.store().get(key);
    if (!object) {
        sightings_.erase(key);
        turns_.erase(key);
        orphans_.remove({key.namespace_, key.name});
        co_return kube::Result{};
    }
    if (!informers_.synced() || !informers_.stale_kinds().empty()) co_return kube::Result{kWhileCollecting};
    // The provider's reconciler checks whether the backend answers. A change of that
    // condition queues this key again.
    if (!answers(*object)) co_return kube::Result{};
    const auto lookup = co_await instances_.get(key);
    const auto* found = std::get_if<Backend>(&lookup);
    if (!found) co_return kube::Result{kInterval};
    const auto backend = *found;
    const auto machines = co_await backend->list();
    OrphanFindings findings;
    co_await attempt(collect_machines(object, backend, machines, findings), "machines", findings);
    const bool busy = !findings.removable.empty() && grace_of(*object) > base::Duration::zero();
    co_await attempt(find_leftovers(object, backend, findings), "half-made machines", findings);
    co_await attempt(find_abandoned(object, backend, findings), "machines of other providers", findings);
    census_.report_found(object, machines);
    co_await attempt(census_.report_vanished(object, backend, machines), "missing machines", findings);
    co_await attempt(collect_nodes(object, backend, machines, findings), "Nodes", findings);
    co_await report(object, std::move(findings));
    co_return kube::Result{busy ? kWhileCollecting : kInterval};
}

// Catches the failure of one part, so that the other parts still run.
asio::awaitable<void> GarbageCollector::attempt(asio::awaitable<void> part, std::string what,
                                                OrphanFindings& findings) {
    try {
        co_await std::move(part);
    } catch (const providers::FencedError&) {
        throw;  // this process is no longer the leader
    } catch (const std::exception& error) {
        findings.failures.push_back(what + " (" + error.what() + ")");
    }
}

bool GarbageCollector::is_overdue(const ProviderObject& object, const std::string& what) {
    const auto grace = grace_of(*object);
    return seen_for(object, what) >= grace && grace > base::Duration::zero();
}

bool GarbageCollector::is_seen_again(const ProviderObject& object, const std::string& what) {
    return seen_for(object, what) > base::Duration::zero();
}

base::Duration GarbageCollector::seen_for(const ProviderObject& object, const std::string& what) {
    const auto now = clock_.now();
    auto& seen = sightings_[api::key_of(*object)];
    // An object that was absent for several rounds is counted from the beginning.
    std::erase_if(seen, [now](const auto& entry) { return entry.second.last + 3 * kInterval < now; });
    auto& sighting = seen.try_emplace(what, Sighting{now, now, {}}).first->second;
    sighting.last = now;
    return now - sighting.first;
}

asio::awaitable<bool> GarbageCollector::is_claimed(providers::Machine machine) {
    const kube::ObjectKey key{machine.identity.claim_namespace, machine.identity.claim_name};
    try {
        const auto live = co_await client_.get<NodeSmithClaim>(key);
        co_return live.has_value() && belongs_to(machine, *live);
    } catch (const kube::UndecodableError&) {
        co_return true;  // it exists, and may own the machine
    }
}

// Reads the Nodes live: the cache may lack the Node of a machine that has just joined.
asio::awaitable<bool> GarbageCollector::is_in_use_after_all(providers::Machine machine) {
    const kube::ListOptions all;
    const auto nodes = co_await client_.list<api::Node>(all);
    // A Node that cannot be decoded may be Ready.
    co_return std::ranges::any_of(nodes.undecodable,
                                  [&machine](const auto& node) { return runs_on(node.rest, machine); }) ||
        std::ranges::any_of(nodes.objects,
                            [&machine](const api::Node& node) { return may_serve(node, machine); });
}

// Lists the claims live, because the cache lacks those of unmanaged namespaces. A claim that only has the
// right name does not count, as any tenant can choose that name.
asio::awaitable<bool> GarbageCollector::is_of_unmanaged_claim(NodePointer node) {
    const kube::ObjectKey in_any_namespace{"", *api::find(node->metadata.labels, api::labels::kClaim)};
    const auto claims = co_await client_.list<NodeSmithClaim>(kube::only(in_any_namespace));
    if (!claims.undecodable.empty()) co_return true;
    co_return std::ranges::any_of(claims.objects, [&node](const NodeSmithClaim& claim) {
        return claim.status.nodeName == node->metadata.name;
    });
}

asio::awaitable<void> GarbageCollector::collect_machines(ProviderObject object, Backend backend,
                                                         std::vector<providers::Machine> machines,
                                                         OrphanFindings& findings) {
    for (const auto& machine : unclaimed(machines, informers_)) {
        try {
            co_await collect(object, backend, machine, findings);
        } catch (const providers::FencedError&) {
            throw;
        } catch (const std::exception& error) {
            findings.stuck.push_back(described(machine) + ", because " + error.what());
        }
    }
    // Nothing proves that the machine is ours, so a person must decide.
    for (const auto& machine : never_finished(machines, informers_)) {
        const auto what = "never-finished/" + machine.record.host + "/" + machine.record.machine_id + "/" +
                          machine.identity.claim_uid;
        if (is_seen_again(object, what)) findings.unfinished.push_back(described(machine));
    }
}

asio::awaitable<void> GarbageCollector::collect(ProviderObject object, Backend backend,
                                                providers::Machine machine, OrphanFindings& findings) {
    const bool claimed = co_await is_claimed(machine);
    if (claimed) co_return;
    // The list may still show the previous machine with this ID.
    const bool is_gone = co_await verified_gone(backend, machine.identity, machine.record);
    if (is_gone) co_return;
    if (const auto why = why_left_to_people(machine, informers_); !why.empty()) {
        findings.alive.push_back(described(machine) + ", " + why);
        co_return;
    }
    bool in_use = is_in_use(machine, informers_);
    const bool overdue = is_overdue(object, machine.identity.system_uuid);
    if (!in_use && overdue) in_use = co_await is_in_use_after_all(machine);
    const auto held = volumes_on(machine, informers_);
    if (!in_use && !held.empty()) {
        findings.alive.push_back(described(machine) + ", whose disk holds " + held);
        co_return;
    }
    std::string obstacle;
    if (!in_use && overdue) obstacle = co_await remove(object, backend, machine);
    if (in_use) {
        findings.alive.push_back(described(machine));
    } else if (obstacle.empty()) {
        findings.removable.push_back(described_removal(object, machine));
    } else {
        findings.stuck.push_back(described(machine) + ", because " + obstacle);
    }
}

asio::awaitable<void> GarbageCollector::find_leftovers(ProviderObject object, Backend backend,
                                                       OrphanFindings& findings) {
    auto* finder = backend->capabilities().leftover_finder;
    if (!finder) co_return;
    const auto all = co_await finder->leftovers();
    findings.failures.insert(findings.failures.end(), all.unseen.begin(), all.unseen.end());
    for (const auto& leftover : all.found) {
        if (is_being_launched(leftover.record, api::key_of(*object), informers_)) continue;
        // Someone else may have just started to create it.
        const auto what = "half-made/" + leftover.record.host + "/" + leftover.record.machine_id;
        const bool is_old = is_seen_again(object, what);
        if (leftover.is_certain || is_old) findings.half_made.push_back(leftover.message);
    }
}

// Lists providers and claims live, because the cache lacks those of unmanaged namespaces.
asio::awaitable<void> GarbageCollector::find_abandoned(ProviderObject object, Backend backend,
                                                       OrphanFindings& findings) {
    auto* finder = backend->capabilities().stray_finder;
    if (!finder) co_return;
    auto strays = co_await finder->strays();
    const auto has_provider = [](const auto& providers, const providers::Stray& stray) {
        return std::ranges::any_of(
            providers, [&](const auto* one) { return one->metadata.uid == stray.identity.provider_uid; });
    };
    std::erase_if(strays, [this](const providers::Stray& stray) {
        return std::ranges::any_of(informers_.providers.store().all(), [&](const auto& entry) {
            return entry.second->metadata.uid == stray.identity.provider_uid;
        });
    });
    if (strays.empty()) co_return;
    const kube::ListOptions everywhere;
    const auto providers = co_await client_.list<NodeSmithProvider>(everywhere);
    const auto claims = co_await client_.list<NodeSmithClaim>(everywhere);
    for (const auto& stray : strays) {
        const bool is_claimed = std::ranges::any_of(claims.existing(), [&](const auto* claim) {
            return claim->metadata.uid == stray.identity.claim_uid;
        });
        const auto what = "abandoned/" + stray.record.host + "/" + stray.record.machine_id;
        if (has_provider(providers.existing(), stray) || is_claimed || !is_seen_again(object, what)) continue;
        findings.abandoned.push_back("VM " + stray.record.machine_id + " on " + stray.record.host +
                                     " of claim " + stray.identity.claim_namespace + "/" +
                                     stray.identity.claim_name + " (" + stray.removal + ")");
    }
}

asio::awaitable<std::string> GarbageCollector::remove(ProviderObject object, Backend backend,
                                                      providers::Machine machine) {
    auto removal = sightings_[api::key_of(*object)][machine.identity.system_uuid].removal;
    if (clock_.now() < removal.next) co_return removal.obstacle;
    removal.obstacle.clear();
    auto pause = base::Duration::zero();
    try {
        pause = co_await remove_once(object, backend, machine, removal);
    } catch (const providers::FencedError&) {
        throw;
    } catch (const std::exception& error) {
        removal.obstacle = error.what();
        pause = kRemovalPause.after(++removal.attempts);
    }
    removal.next = clock_.now() + pause;
    auto obstacle = removal.obstacle;
    sightings_[api::key_of(*object)][machine.identity.system_uuid].removal = std::move(removal);
    co_return obstacle;
}

asio::awaitable<base::Duration> GarbageCollector::remove_once(ProviderObject object, Backend backend,
                                                              providers::Machine machine, Removal& removal) {
    auto record = machine.record;
    record.task = removal.task;
    providers::InUseCheck in_use = [this, machine] { return is_in_use_after_all(machine); };
    const auto result = co_await backend->remove(machine.identity, std::move(record), std::move(in_use));
    removal.task.clear();
    const auto name = described(machine);
    if (std::holds_alternative<providers::Gone>(result)) {
        removed_.with({object->metadata.namespace_, object->metadata.name}).add();
        base::log::info("Removed orphan machine", {{"provider", object->metadata.name}, {"machine", name}});
    } else if (const auto* blocked = std::get_if<providers::RemovalBlocked>(&result)) {
        removal.obstacle = blocked->message;
    } else if (const auto* busy = std::get_if<providers::RemovalInProgress>(&result)) {
        removal.task = busy->task;
        removal.message = busy->message;
        events_.normal(*object, "RemovingOrphan",
                       "removing machine " + name + ": no claim owns it and no Node runs on it");
        co_return std::max(busy->retry_after, kRemovalPause.after(++removal.attempts));
    }
    co_return base::Duration::zero();
}

std::string GarbageCollector::described_removal(const ProviderObject& object,
                                                const providers::Machine& machine) const {
    const auto& removal = sightings_.at(api::key_of(*object)).at(machine.identity.system_uuid).removal;
    const bool is_long = removal.attempts > kManyAttempts && !removal.message.empty();
    return described(machine) + (is_long ? ", not removed after many attempts: " + removal.message : "");
}

asio::awaitable<void> GarbageCollector::report(ProviderObject object, OrphanFindings findings) {
    const auto count = findings.count();
    orphans_.with({object->metadata.namespace_, object->metadata.name}).set(static_cast<double>(count));
    const auto current = informers_.providers.store().get(api::key_of(*object));
    if (!current) co_return;
    const auto message = summary_of(findings, grace_of(*object) == base::Duration::zero());
    api::ConditionUpdate update;
    update.type = conditions::kOrphansFound;
    update.status = count > 0 ? ConditionStatus::True : ConditionStatus::False;
    update.reason = count > 0 ? reasons::kOrphansFound : reasons::kNoOrphans;
    update.message = message;
    auto after = *current;
    const bool news = api::set_condition(after.status.conditions, update, api::Time(clock_.wall_now()));
    co_await write_status(client_, informers_.providers, *current, after);
    if (news && count > 0) {
        events_.warning(*object, std::string(reasons::kOrphansFound), message);
    }
}

asio::awaitable<void> GarbageCollector::collect_nodes(ProviderObject object, Backend backend,
                                                      std::vector<providers::Machine> machines,
                                                      OrphanFindings& findings) {
    const auto hosts = co_await backend->offerings();
    auto& turns = turns_[api::key_of(*object)];
    const auto nodes = turns.in_turn(ghosts(machines, hosts, api::key_of(*object), informers_),
                                     [](const NodePointer& node) { return node->metadata.uid; });
    for (const auto& node : nodes) {
        if (!is_overdue(object, "node/" + node->metadata.uid)) continue;
        try {
            co_await collect_node(node);
            turns.note_success(node->metadata.uid);
        } catch (const kube::ApiError& error) {
            if (error.is_conflict() || error.is_not_found()) continue;  // the next round sees its new state
            findings.failures.push_back("Node " + node->metadata.name +
                                        ", which has neither machine nor claim (" + error.what() + ")");
            // What was found is reported soon. The next round begins with the other Nodes.
            if (turns.note_failure(node->metadata.uid, error)) co_return;
        }
    }
}

asio::awaitable<void> GarbageCollector::collect_node(NodePointer node) {
    const bool is_needed = co_await is_of_unmanaged_claim(node);
    if (is_needed) co_return;
    api::Preconditions same;
    same.uid = node->metadata.uid;
    same.resourceVersion = node->metadata.resourceVersion;
    co_await client_.remove<api::Node>(api::key_of(*node), same);
    events_.normal(*node, "RemovingNode", "its machine and its claim are gone");
}

}  // namespace controllers
