#include "controllers/garbage_collection.hpp"

#include <algorithm>
#include <iterator>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/orphans.hpp"
#include "controllers/state/identity.hpp"
#include "kube/watches.hpp"
#include "providers/capabilities.hpp"
#include "providers/errors.hpp"
#include "providers/removal.hpp"

namespace controllers {

namespace {

constexpr base::Duration kInterval = std::chrono::minutes{3};
constexpr base::Duration kWhileCollecting = std::chrono::seconds{15};
constexpr base::Backoff kRemovalPause{kWhileCollecting, kInterval};
constexpr int kManyAttempts = 5;  // a removal without trouble takes fewer

std::string described(const providers::Machine& machine) {
    return machine.name + " (" + machine.record.machine_id + " on " + machine.record.host + ")";
}

base::Duration grace_of(const NodeSmithProvider& provider) {
    return provider.spec.orphanGracePeriod.value;
}

bool answers(const NodeSmithProvider& provider) {
    return api::is_true(provider.status.conditions, conditions::kReachable);
}

// A claim whose attempt has not failed yet sees what becomes of its machine.
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

// As many as a person can read.
std::vector<std::string> names_of(const std::vector<ClaimPointer>& claims) {
    constexpr std::size_t kMostNamed = 50;
    std::vector<std::string> names;
    for (const auto& claim : claims)
        if (names.size() < kMostNamed) names.push_back(claim->metadata.name);
    return names;
}

std::vector<std::string> provider_labels() {
    return {"namespace", "provider"};
}

}  // namespace

GarbageCollector::GarbageCollector(const Context& context, ProviderInstances& instances,
                                   MachineReports& machine_reports)
    : InContext(context),
      instances_(instances),
      machine_reports_(machine_reports),
      orphans_(context.metrics.gauge(
          "kubenodesmith_orphan_machines",
          "Machines with our mark that no claim owns, and what creations left half made.",
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
        orphans_.remove({key.namespace_, key.name});
        co_return kube::Result{};
    }
    if (!informers_.synced() || !informers_.stale_kinds().empty()) co_return kube::Result{kWhileCollecting};
    // Whether it answers is examined elsewhere; a change of that condition comes back here.
    if (!answers(*object)) co_return kube::Result{};
    const auto lookup = co_await instances_.get(key);
    const auto* found = std::get_if<Backend>(&lookup);
    if (!found) co_return kube::Result{kInterval};
    const auto backend = *found;
    const auto machines = co_await backend->list();
    auto findings = co_await collect_machines(object, backend, machines);
    const bool busy = !findings.removable.empty() && grace_of(*object) > base::Duration::zero();
    findings.half_made = co_await leftovers(object, backend);
    findings.abandoned = co_await abandoned(object, backend);
    co_await report(object, std::move(findings));
    report_found(object, machines);
    co_await report_vanished(object, backend, machines);
    co_await collect_nodes(object, backend, machines);
    co_return kube::Result{busy ? kWhileCollecting : kInterval};
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
    // Something that was away for longer than a few rounds starts anew.
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
        co_return true;  // it exists, and may say that the machine is its own
    }
}

// A machine that joined a moment ago has a Node that the cache does not show yet.
asio::awaitable<bool> GarbageCollector::is_in_use_after_all(providers::Machine machine) {
    const kube::ListOptions all;
    const auto nodes = co_await client_.list<api::Node>(all);
    // Whether a Node that cannot be decoded is Ready is not known.
    co_return std::ranges::any_of(nodes.undecodable,
                                  [&machine](const auto& node) { return runs_on(node.rest, machine); }) ||
        std::ranges::any_of(nodes.objects,
                            [&machine](const api::Node& node) { return may_serve(node, machine); });
}

// Claims of namespaces that are no longer managed are in no cache. A claim that only has the right name does
// not count, as any tenant can choose that name.
asio::awaitable<bool> GarbageCollector::is_of_unmanaged_claim(NodePointer node) {
    kube::ListOptions of_that_name;
    of_that_name.field_selector = "metadata.name=" + *api::find(node->metadata.labels, api::labels::kClaim);
    const auto claims = co_await client_.list<NodeSmithClaim>(std::move(of_that_name));
    if (!claims.undecodable.empty()) co_return true;
    co_return std::ranges::any_of(claims.objects, [&node](const NodeSmithClaim& claim) {
        return claim.status.nodeName == node->metadata.name;
    });
}

asio::awaitable<GarbageCollector::Findings> GarbageCollector::collect_machines(
    ProviderObject object, Backend backend, std::vector<providers::Machine> machines) {
    Findings findings;
    for (const auto& machine : unclaimed(machines, informers_)) {
        const bool claimed = co_await is_claimed(machine);
        if (claimed) continue;
        // What is known of it by its ID may be of the machine that had the ID before.
        const bool is_gone = co_await verified_gone(backend, machine.identity, machine.record);
        if (is_gone) continue;
        bool in_use = is_in_use(machine, informers_);
        const bool overdue = is_overdue(object, machine.identity.system_uuid);
        if (!in_use && overdue) in_use = co_await is_in_use_after_all(machine);
        const auto held = volumes_on(machine, informers_);
        if (!in_use && !held.empty()) {
            findings.alive.push_back(described(machine) + ", which has on its disk " + held);
            continue;
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
    // It cannot be proven to be ours, so it is left to people.
    for (const auto& machine : never_finished(machines, informers_)) {
        const auto what = "never-finished/" + machine.record.host + "/" + machine.record.machine_id + "/" +
                          machine.identity.claim_uid;
        if (is_seen_again(object, what)) findings.unfinished.push_back(described(machine));
    }
    co_return findings;
}

asio::awaitable<std::vector<std::string>> GarbageCollector::leftovers(ProviderObject object,
                                                                      Backend backend) {
    std::vector<std::string> messages;
    auto* finder = backend->capabilities().leftover_finder;
    if (!finder) co_return messages;
    const auto found = co_await finder->leftovers();
    for (const auto& leftover : found) {
        if (is_being_launched(leftover.record, api::key_of(*object), informers_)) continue;
        // Somebody else may have begun it just now.
        const auto what = "half-made/" + leftover.record.host + "/" + leftover.record.machine_id;
        const bool is_old = is_seen_again(object, what);
        if (leftover.is_certain || is_old) messages.push_back(leftover.message);
    }
    co_return messages;
}

// Providers and claims of namespaces that are not managed are in no cache, so they are listed.
asio::awaitable<std::vector<std::string>> GarbageCollector::abandoned(ProviderObject object,
                                                                      Backend backend) {
    std::vector<std::string> messages;
    auto* finder = backend->capabilities().stray_finder;
    if (!finder) co_return messages;
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
    if (strays.empty()) co_return messages;
    const kube::ListOptions everywhere;
    const auto providers = co_await client_.list<NodeSmithProvider>(everywhere);
    const auto claims = co_await client_.list<NodeSmithClaim>(everywhere);
    for (const auto& stray : strays) {
        const bool is_claimed = std::ranges::any_of(claims.existing(), [&](const auto* claim) {
            return claim->metadata.uid == stray.identity.claim_uid;
        });
        const auto what = "abandoned/" + stray.record.host + "/" + stray.record.machine_id;
        if (has_provider(providers.existing(), stray) || is_claimed || !is_seen_again(object, what)) continue;
        messages.push_back("VM " + stray.record.machine_id + " on " + stray.record.host + " of claim " +
                           stray.identity.claim_namespace + "/" + stray.identity.claim_name + " (" +
                           stray.removal + ")");
    }
    co_return messages;
}

asio::awaitable<std::string> GarbageCollector::remove(ProviderObject object, Backend backend,
                                                      providers::Machine machine) {
    auto removal = sightings_[api::key_of(*object)][machine.identity.system_uuid].removal;
    if (clock_.now() < removal.next) co_return std::string();
    auto record = machine.record;
    record.task = removal.task;
    providers::InUseCheck in_use = [this, machine] { return is_in_use_after_all(machine); };
    const auto result = co_await backend->remove(machine.identity, std::move(record), std::move(in_use));
    const auto name = described(machine);
    auto pause = base::Duration::zero();
    std::string obstacle;
    removal.task.clear();
    if (std::holds_alternative<providers::Gone>(result)) {
        removed_.with({object->metadata.namespace_, object->metadata.name}).add();
        base::log::info("Removed orphan machine", {{"provider", object->metadata.name}, {"machine", name}});
    } else if (const auto* blocked = std::get_if<providers::RemovalBlocked>(&result)) {
        obstacle = blocked->message;
    } else if (const auto* busy = std::get_if<providers::RemovalInProgress>(&result)) {
        removal.task = busy->task;
        removal.message = busy->message;
        pause = std::max(busy->retry_after, kRemovalPause.after(++removal.attempts));
        events_.normal(*object, "RemovingOrphan",
                       "removing machine " + name + ": no claim owns it and no Node runs on it");
    }
    removal.next = clock_.now() + pause;
    sightings_[api::key_of(*object)][machine.identity.system_uuid].removal = std::move(removal);
    co_return obstacle;
}

std::string GarbageCollector::described_removal(const ProviderObject& object,
                                                const providers::Machine& machine) const {
    const auto& removal = sightings_.at(api::key_of(*object)).at(machine.identity.system_uuid).removal;
    const bool is_long = removal.attempts > kManyAttempts && !removal.message.empty();
    return described(machine) + (is_long ? ", tried again and again: " + removal.message : "");
}

std::string GarbageCollector::summary_of(const Findings& findings, bool reports_only) {
    std::string message;
    const auto add = [&message](const std::string& what, const std::vector<std::string>& names) {
        if (!names.empty()) message += (message.empty() ? "" : "; ") + what + base::joined(names);
    };
    add("with a Node or a bound volume, left alone: ", findings.alive);
    add(reports_only ? "without a Node: " : "to be removed: ", findings.removable);
    add("cannot be removed: ", findings.stuck);
    add("cloned for a claim that is gone and never configured, so that nothing proves it ours (destroy it if "
        "it "
        "is not yours, or rename it): ",
        findings.unfinished);
    add("left behind by tasks that died or failed: ", findings.half_made);
    add("of providers that are gone, so that no claim can remove them (remove them by hand if you do not "
        "need "
        "them): ",
        findings.abandoned);
    return message.empty() ? "every machine of ours belongs to a claim" : message;
}

asio::awaitable<void> GarbageCollector::report(ProviderObject object, Findings findings) {
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

// One machine that cannot be looked at (its host is down, its mark was edited) must not hide all others.
asio::awaitable<bool> GarbageCollector::verified_gone(Backend backend, providers::MachineIdentity identity,
                                                      providers::MachineRecord record) {
    try {
        const auto machine = co_await backend->get(identity, record);
        co_return !machine;
    } catch (const providers::ProviderError& error) {
        base::log::debug(
            "Cannot tell whether a machine exists",
            {{"claim", identity.claim_name}, {"machine", record.machine_id}, {"error", error.what()}});
        co_return false;
    }
}

// A machine that is there again takes back what was reported of it.
void GarbageCollector::report_found(const ProviderObject& object,
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

asio::awaitable<void> GarbageCollector::report_vanished(ProviderObject object, Backend backend,
                                                        std::vector<providers::Machine> machines) {
    auto claims = bereft(machines, api::key_of(*object), informers_);
    std::ranges::copy(keepers_of_nothing(machines, api::key_of(*object), informers_),
                      std::back_inserter(claims));
    std::vector<ClaimPointer> vanished;
    for (const auto& claim : claims) {
        const auto identity = claim::identity_of(*claim, instances_.cluster_id(), object->metadata.uid);
        const bool is_gone = co_await verified_gone(backend, identity, claim::record_of(claim->status));
        if (is_gone) vanished.push_back(claim);
    }
    const auto all = in_service(api::key_of(*object), informers_);
    std::string how_many;
    if (are_many(vanished.size(), all.size()))
        how_many = std::to_string(vanished.size()) + " of " + base::counted(std::ssize(all), "machine") +
                   " of the provider are gone at once";
    co_await report_many(object, vanished, how_many);
    const auto doubt =
        how_many.empty() ? "" : "and " + how_many + ", which is not believed before a person has looked";
    for (const auto& claim : vanished) machine_reports_.report(*claim, {true, "", "", doubt, ""});
}

asio::awaitable<void> GarbageCollector::report_many(ProviderObject object, std::vector<ClaimPointer> vanished,
                                                    std::string how_many) {
    const auto current = informers_.providers.store().get(api::key_of(*object));
    if (!current) co_return;
    auto after = *current;
    if (how_many.empty()) {
        api::remove_condition(after.status.conditions, conditions::kMachinesVanished);
    } else {
        const auto named = names_of(vanished);
        const auto message =
            how_many + ": " + base::joined(named) +
            ". Nothing is concluded from that. Check that spec.proxmox leads to the right cluster and that "
            "its "
            "token sees these VMs. If they were really destroyed: kubectl annotate nodesmithclaim -n " +
            object->metadata.namespace_ + " " + base::joined(named, " ") + " " +
            std::string(api::annotations::kMachineGone) + "=true";
        api::ConditionUpdate update;
        update.type = conditions::kMachinesVanished;
        update.status = ConditionStatus::True;
        update.reason = reasons::kManyVanished;
        update.message = message;
        const bool is_news =
            api::set_condition(after.status.conditions, update, api::Time(clock_.wall_now()));
        if (is_news) events_.warning(*object, std::string(reasons::kManyVanished), message);
    }
    co_await write_status(client_, informers_.providers, *current, std::move(after));
}

asio::awaitable<void> GarbageCollector::collect_nodes(ProviderObject object, Backend backend,
                                                      std::vector<providers::Machine> machines) {
    const auto hosts = co_await backend->offerings();
    for (const auto& node : ghosts(machines, hosts, api::key_of(*object), informers_)) {
        if (!is_overdue(object, "node/" + node->metadata.uid)) continue;
        const bool is_needed = co_await is_of_unmanaged_claim(node);
        if (is_needed) continue;
        events_.normal(*node, "RemovingNode", "its machine and its claim are gone");
        kube::Preconditions same;
        same.uid = node->metadata.uid;
        same.resource_version = node->metadata.resourceVersion;
        co_await client_.remove<api::Node>(api::key_of(*node), same);
    }
}

}  // namespace controllers
