#include "controllers/provider_reconciler.hpp"

#include <algorithm>
#include <tuple>

#include "controllers/cache/condition_update.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/orphans.hpp"
#include "controllers/provisioning/facts/room.hpp"
#include "controllers/state/hold_back.hpp"
#include "kube/watches.hpp"
#include "providers/errors.hpp"

namespace controllers {

namespace {

constexpr base::Duration kHealthyInterval = std::chrono::minutes{5};
// Meanwhile other providers create the machines, so a recovered provider must be noticed soon.
constexpr base::Backoff kFailureBackoff{std::chrono::seconds{5}, std::chrono::minutes{1}};
// Machines of one decision appear and vanish together, so they are examined together. Data of a backend about
// its hosts may be ten seconds old.
constexpr base::Duration kMachinesSettle = std::chrono::seconds{12};

// A provider whose backend is gone must be deletable, and a person may be waiting.
constexpr int kMostDismantlings = 100;
// The garbage collector runs every three minutes, and a removal takes a while.
constexpr base::Duration kOrphanRemoval = std::chrono::minutes{6};
constexpr base::Duration kOrphanInterval = std::chrono::seconds{5};
constexpr base::Duration kObstacleRetry = std::chrono::minutes{1};
constexpr base::Duration kDismantlingInterval = std::chrono::seconds{3};

void add_item(std::string& list, const std::string& what) {
    if (!what.empty()) list += (list.empty() ? "" : ", ") + what;
}

// Returns the fields that decide where a machine is. Other changes of a claim say nothing about hosts.
auto machine_of(const NodeSmithClaim& claim) {
    return std::tie(claim.status.host, claim.status.machineID, claim.status.waitsForRoomSince);
}

// Reports whether the claim hints at a fault of its provider. An obstacle for one claim may affect all,
// and another cluster concerns all.
bool finds_provider_unready(const NodeSmithClaim& claim) {
    const auto& all = claim.status.conditions;
    const auto* launched = api::find_condition(all, conditions::kLaunched);
    const auto* deleted = api::find_condition(all, conditions::kMachineDeleted);
    const bool is_elsewhere = (launched && launched->reason == reasons::kOtherCluster) ||
                              (deleted && deleted->reason == reasons::kOtherCluster);
    return is_elsewhere || provisioning::lacks_provider(claim);
}

// Reports whether the accepted cluster is already recorded, so that the annotation is no longer needed.
bool names_recorded_cluster(const NodeSmithProvider& provider) {
    const auto* accepted = api::find(provider.metadata.annotations, api::annotations::kAcceptCluster);
    const auto& recorded = provider.status.cluster;
    return accepted && recorded && !accepted->empty() &&
           (*accepted == recorded->id || *accepted == recorded->name);
}

auto acceptance_of(const NodeSmithProvider& provider) {
    const auto* accepted = api::find(provider.metadata.annotations, api::annotations::kAcceptCluster);
    return accepted ? *accepted : std::string();
}

bool is_launched(const NodeSmithClaim& claim) {
    return api::is_true(claim.status.conditions, conditions::kLaunched);
}

// Reports whether the host is reachable. A bare-metal provider is ready if any of its hosts is.
bool is_reachable(const NodeSmithHost& host) {
    return api::is_true(host.status.conditions, conditions::kReachable);
}

}  // namespace

ProviderReconciler::ProviderReconciler(const Context& context, ProviderInstances& instances)
    : InContext(context),
      instances_(instances),
      ready_(context.metrics.gauge("kubenodesmith_provider_ready",
                                   "1 if machines can be created with the provider",
                                   {"namespace", "provider"})) {}

void ProviderReconciler::subscribe(kube::WorkQueue& queue) {
    // Our own status writes must not trigger another examination.
    kube::watch(informers_.providers)
        .changed(kube::kGeneration, kube::kUid, kube::kDeletion, acceptance_of)
        .enqueue(queue);

    // The Secret may have changed since it was read.
    instances_.on_refusal([&queue](const kube::ObjectKey& provider) { queue.add(provider); });

    const auto provider_of = [](const NodeSmithClaim& claim) {
        return kube::ObjectKey(claim.metadata.namespace_, claim.status.providerRef);
    };
    const auto is_of = [this, provider_of](bool leaving) {
        return [this, provider_of, leaving](const NodeSmithClaim& claim) {
            const auto provider = informers_.providers.store().get(provider_of(claim));
            return provider && provider->metadata.deletionTimestamp.has_value() == leaving;
        };
    };
    // Its pools get claims that cannot be launched, until the provider is known to be unreachable.
    kube::watch(informers_.claims)
        .became(finds_provider_unready)
        .when(is_of(false))
        .enqueue(queue, provider_of);
    const auto machine =
        kube::watch(informers_.claims).changed(machine_of, is_launched, finds_provider_unready);
    machine.when(is_of(true)).enqueue(queue, provider_of);  // this may have been the last machine
    machine.when(is_of(false)).after(kMachinesSettle).enqueue(queue, provider_of);

    const auto provider_of_host = [](const NodeSmithHost& host) {
        return kube::ObjectKey(host.metadata.namespace_, host.spec.providerRef);
    };
    kube::watch(informers_.hosts)
        .changed(is_reachable)
        .when([this, provider_of_host](const NodeSmithHost& host) {
            return informers_.providers.store().get(provider_of_host(host)) != nullptr;
        })
        .after(kMachinesSettle)
        .enqueue(queue, provider_of_host);
}

asio::awaitable<kube::Result> ProviderReconciler::reconcile(kube::ObjectKey key) {
    auto provider = informers_.providers.store().get(key);
    if (!provider) {
        co_await instances_.forget(key);
        failures_.erase(key);
        warned_generation_.erase(key);
        dismantlings_.erase(key);
        orphans_since_.erase(key);
        releases_refused_.erase(key);
        ready_.remove({key.namespace_, key.name});
        co_await release_after_force(key);
        co_return kube::Result();
    }
    const bool held_back = co_await is_held_back(informers_.providers, key, client_, events_, clock_);
    if (held_back) {
        ready_.with({key.namespace_, key.name}).set(0);
        co_return kube::Result();
    }
    provider = informers_.providers.store().get(key);
    if (!provider) co_return kube::Result();
    if (!provider->metadata.deletionTimestamp)
        co_await ensure_finalizer(client_, informers_.providers, *provider, api::finalizers::kProvider);
    warn_of_ineffective_settings(*provider);

    // Runs before the examination, because an examined backend recreates what it lacks.
    std::optional<Leaving> leaving;
    if (provider->metadata.deletionTimestamp) leaving = co_await leave(provider);
    const auto credentials = co_await tend_credentials(provider);
    auto examination = co_await examine(key);
    examination.credentials = credentials;
    if (leaving)
        examination.left = leaving->orphans.removable.empty() ? leaving->left : leaving->orphans.removable;
    const auto fault = configuration_fault(examination);
    const bool good = examination.good() && fault.message.empty();
    const auto look_again_after = examination.health.look_again_after;
    ready_.with({key.namespace_, key.name}).set(examination.good() && !fault.everywhere ? 1 : 0);
    failures_[key] = good ? 0 : failures_[key] + 1;
    const auto current = informers_.providers.store().get(key);
    if (current) co_await write(current, std::move(examination));

    kube::Result result;
    result.requeue_after = good ? kHealthyInterval : kFailureBackoff.after(failures_[key]);
    if (!credentials.reason.empty()) result.requeue_after = std::min(*result.requeue_after, kObstacleRetry);
    if (look_again_after > base::Duration::zero())
        result.requeue_after = std::min(*result.requeue_after, look_again_after);
    const auto recorded = informers_.providers.store().get(key);
    if (recorded && names_recorded_cluster(*recorded)) {
        co_await drop_acceptance(recorded);
        result.requeue_after = base::Duration::zero();  // the backend is rebuilt for that cluster
    }
    const auto written = informers_.providers.store().get(key);
    if (written && leaving) result = co_await finalize(written, *std::move(leaving));
    co_return result;
}

// Catches all failures: reporting an unreachable backend is this reconciler's purpose.
asio::awaitable<ProviderExamination> ProviderReconciler::examine(kube::ObjectKey key) {
    ProviderExamination examination;
    auto lookup = co_await instances_.refresh(key);
    if (auto* unavailable = std::get_if<ProviderUnavailable>(&lookup)) {
        examination.unavailable = std::move(*unavailable);
        co_return examination;
    }
    const auto backend = std::get<std::shared_ptr<providers::Provider>>(lookup);
    try {
        examination.health = co_await backend->check();
        if (examination.good()) examination.hosts = co_await backend->offerings();
    } catch (const providers::ProviderError& error) {
        examination.health.reachable = false;
        examination.health.reason = reasons::kUnreachable;
        examination.health.message = error.what();
    }
    co_return examination;
}

asio::awaitable<void> ProviderReconciler::write(Pointer before, ProviderExamination examination) {
    auto after = *before;
    after.status = next_status(*before, examination, api::Time(clock_.wall_now()));
    const auto* old_ready = api::find_condition(before->status.conditions, conditions::kReady);
    const auto now_ready = *api::find_condition(after.status.conditions, conditions::kReady);
    const bool said = old_ready && old_ready->status == now_ready.status &&
                      old_ready->reason == now_ready.reason && old_ready->message == now_ready.message;
    co_await write_status(client_, informers_.providers, *before, std::move(after));
    if (said) co_return;
    const bool is_well =
        now_ready.status == ConditionStatus::True || now_ready.reason == reasons::kImagePreparing;
    const auto type = is_well ? kube::EventType::normal : kube::EventType::warning;
    events_.event(kube::target_of(*before), type, now_ready.reason, now_ready.message);
}

asio::awaitable<void> ProviderReconciler::drop_acceptance(Pointer provider) {
    const auto& cluster = *provider->status.cluster;
    events_.normal(*provider, "ClusterRecorded",
                   "the provider's machines are on " + providers::describe({cluster.name, cluster.id}) +
                       ", as the annotation " + std::string(api::annotations::kAcceptCluster) + " says");
    auto after = *provider;
    after.metadata.annotations->erase(std::string(api::annotations::kAcceptCluster));
    co_await write_object(client_, informers_.providers, *provider, std::move(after));
}

asio::awaitable<ProviderReconciler::Leaving> ProviderReconciler::leave(Pointer provider) {
    Leaving leaving;
    leaving.claims = co_await claims_in_use(api::key_of(*provider));
    if (leaving.claims > 0) co_return leaving;
    leaving.orphans = co_await orphans_of(provider);
    leaving.left = co_await dismantle(provider);
    co_return leaving;
}

asio::awaitable<kube::Result> ProviderReconciler::finalize(Pointer provider, Leaving leaving) {
    kube::Result result;
    if (leaving.claims > 0) {
        result.requeue_after = std::chrono::seconds{30};
        co_return result;
    }
    const auto key = api::key_of(*provider);
    if (!leaving.orphans.removable.empty()) {
        const auto begin = orphans_since_.try_emplace(key, clock_.now()).first->second;
        if (clock_.now() - begin < provider->spec.orphanGracePeriod.value + kOrphanRemoval) {
            result.requeue_after = kOrphanInterval;
            co_return result;
        }
    }
    auto orphans = leaving.orphans.removable;
    add_item(orphans, leaving.orphans.kept);
    if (!orphans.empty())
        events_.warning(*provider, "OrphansLeft", "remove by hand what is left: " + orphans);
    if (!leaving.left.empty()) {
        if (++dismantlings_[key] < kMostDismantlings) {
            result.requeue_after = kDismantlingInterval;
            co_return result;
        }
        events_.warning(*provider, "TemplatesLeft", "remove by hand what is left: " + leaving.left);
    }
    auto obstacle = co_await instances_.credentials().release_of_provider(key);
    const bool is_released = obstacle.reason.empty();
    releases_refused_[key] = std::move(obstacle);
    if (!is_released) {
        co_await say_not_released(key);
        result.requeue_after = kObstacleRetry;
        co_return result;
    }
    releases_refused_.erase(key);
    protections_.erase(key);
    const auto current = informers_.providers.store().get(key);
    if (current) co_await drop_finalizer(client_, informers_.providers, *current, api::finalizers::kProvider);
    co_return result;
}

asio::awaitable<void> ProviderReconciler::say_not_released(kube::ObjectKey key) {
    const auto current = informers_.providers.store().get(key);
    if (!current) co_return;
    const auto& obstacle = releases_refused_[key];
    auto after = *current;
    auto condition =
        update(conditions::kCredentialsProtected, ConditionStatus::False, obstacle.reason, obstacle.message);
    condition.observedGeneration = current->metadata.generation;
    api::set_condition(after.status.conditions, condition, api::Time(clock_.wall_now()));
    co_await write_status(client_, informers_.providers, *current, std::move(after));
}

// Returns the orphans. A machine without a claim would run forever once its provider is gone. The garbage
// collector removes it after the grace period, unless a Node runs on it. It reports the machines that a
// person must remove, which needs the provider's condition. Without a grace period it removes nothing.
asio::awaitable<ProviderReconciler::Orphans> ProviderReconciler::orphans_of(Pointer provider) {
    Orphans orphans;
    const auto lookup = co_await instances_.get(api::key_of(*provider));
    const auto* backend = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    if (!backend) {
        orphans.removable = unseen(*provider, std::get<ProviderUnavailable>(lookup).message);
        co_return orphans;
    }
    std::vector<providers::Machine> machines;
    providers::Leftovers leftovers;
    std::vector<providers::Leftover> under_way;
    try {
        machines = co_await (*backend)->list();
        auto* finder = (*backend)->capabilities().leftover_finder;
        if (finder) leftovers = co_await finder->leftovers();
        if (finder) under_way = co_await finder->under_way();
    } catch (const providers::ProviderError& error) {
        orphans.removable = unseen(*provider, error.what());
        co_return orphans;
    }
    const bool is_collected = provider->spec.orphanGracePeriod.value > base::Duration::zero();
    auto& names = is_collected ? orphans.removable : orphans.kept;
    for (const auto& machine : unclaimed(machines, informers_)) {
        const bool serves = is_in_use(machine, informers_);
        add_item(serves ? orphans.kept : names,
                 "machine " + described(machine) + (serves ? ", which serves a Node" : ""));
    }
    for (const auto& machine : never_finished(machines, informers_))
        add_item(names, "machine " + described(machine) + ", which was cloned and never configured");
    for (const auto& machine : machines)
        if (machine.identity.claim_uid.empty())
            add_item(orphans.removable, "machine " + machine.record.machine_id + " on " +
                                            machine.record.host +
                                            ", whose description could not be read yet");
    for (const auto& leftover : leftovers.found)
        if (leftover.is_certain) add_item(orphans.removable, leftover.message);
    for (const auto& made : under_way) add_item(orphans.removable, made.message);
    for (const auto& what : leftovers.unseen)
        add_item(orphans.removable, "what could not be examined: " + what);
    co_return orphans;
}

// A provider whose Secret was never protected for a machine leaves nothing behind. If it never worked because
// of a wrong token, the deletion does not wait for it.
std::string ProviderReconciler::unseen(const NodeSmithProvider& provider, const std::string& why) {
    return provider.status.protectedSecret.empty() ? std::string() : why;
}

asio::awaitable<CredentialsObstacle> ProviderReconciler::tend_credentials(Pointer provider) {
    const auto key = api::key_of(*provider);
    const auto& proxmox = provider->spec.proxmox;
    const bool makes_templates = proxmox && proxmox->template_ && proxmox->template_->image;
    const bool is_needed = makes_templates || has_machines(key);
    CredentialsObstacle obstacle;
    if (is_needed) obstacle = co_await instances_.credentials().protect_of_provider(key, true);
    const auto current = informers_.providers.store().get(key);
    if (current) protections_[key] = {current->status.protectedSecret, current->metadata.uid};
    if (is_needed || !current || current->status.protectedSecret.empty()) co_return obstacle;
    // A provider that is being deleted releases its Secret last.
    if (current->metadata.deletionTimestamp) {
        const auto refused = releases_refused_.find(key);
        co_return refused == releases_refused_.end() ? obstacle : refused->second;
    }
    const auto claims = co_await claims_in_use(key);
    if (claims == 0) obstacle = co_await instances_.credentials().release_of_provider(key);
    co_return obstacle;
}

bool ProviderReconciler::has_machines(const kube::ObjectKey& provider) const {
    return std::ranges::any_of(informers_.claims.store().all(), [&](const auto& entry) {
        return entry.first.namespace_ == provider.namespace_ &&
               entry.second->status.providerRef == provider.name;
    });
}

asio::awaitable<void> ProviderReconciler::release_after_force(kube::ObjectKey key) {
    const auto known = protections_.find(key);
    if (known == protections_.end()) co_return;
    const kube::ObjectKey secret{key.namespace_, known->second.secret};
    auto uid = known->second.uid;
    // A refused release is tried again, so it is forgotten afterwards only.
    if (!secret.name.empty()) co_await instances_.credentials().release_after(secret, std::move(uid));
    protections_.erase(key);
}

// Returns what remains of the objects that the backend made for itself; empty:
// nothing, or it can no longer be asked.
asio::awaitable<std::string> ProviderReconciler::dismantle(Pointer provider) {
    const auto& proxmox = provider->spec.proxmox;
    const bool makes_templates = proxmox && proxmox->template_ && proxmox->template_->image;
    if (!makes_templates) co_return std::string();
    auto lookup = co_await instances_.get(api::key_of(*provider));
    if (const auto* unavailable = std::get_if<ProviderUnavailable>(&lookup))
        co_return unseen(*provider, unavailable->message);
    const auto backend = std::get<std::shared_ptr<providers::Provider>>(lookup);
    const auto capabilities = backend->capabilities();
    if (!capabilities.dismantler) co_return std::string();
    try {
        co_return co_await capabilities.dismantler->dismantle();
    } catch (const providers::ProviderError& error) {
        co_return std::string(error.what());
    }
}

asio::awaitable<std::int64_t> ProviderReconciler::claims_in_use(kube::ObjectKey provider) {
    kube::ListOptions options;
    options.namespace_ = provider.namespace_;
    const auto claims = co_await client_.list<NodeSmithClaim>(std::move(options));
    // A claim that cannot be decoded may use any provider of its namespace.
    co_return static_cast<std::int64_t>(claims.undecodable.size()) +
        std::ranges::count_if(claims.objects,
                              [&](const NodeSmithClaim& claim) { return uses(claim, provider); });
}

bool ProviderReconciler::uses(const NodeSmithClaim& claim, const kube::ObjectKey& provider) const {
    if (claim.metadata.namespace_ != provider.namespace_) return false;
    if (!claim.status.providerRef.empty()) return claim.status.providerRef == provider.name;
    const auto pool = informers_.pools.store().get({claim.metadata.namespace_, claim.spec.poolRef});
    return pool && pool->spec.providerRef == provider.name;
}

void ProviderReconciler::warn_of_ineffective_settings(const NodeSmithProvider& provider) {
    if (provider.spec.additionalSettings.empty()) return;
    const auto generation = provider.metadata.generation.value_or(0);
    auto& warned = warned_generation_[api::key_of(provider)];
    if (warned == generation) return;
    warned = generation;
    events_.warning(provider, "AdditionalSettingsIgnored",
                    "spec.additionalSettings has no effect: use spec.proxmox or spec.redfish instead");
}

}  // namespace controllers
