#include "controllers/host_reconciler.hpp"

#include <algorithm>
#include <tuple>

#include "base/backoff.hpp"
#include "base/uuid.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/node_search.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/state/course.hpp"
#include "controllers/state/hold_back.hpp"
#include "kube/watches.hpp"
#include "providers/capabilities.hpp"
#include "providers/provider.hpp"

namespace controllers {

using api::v1alpha1::HostPhase;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithHost;
using api::v1alpha1::NodeSmithProvider;
namespace conditions = api::conditions;

namespace {

constexpr base::Backoff kLookBackoff{std::chrono::seconds{30}, std::chrono::minutes{10}};
// After this many failures in a row the pause has its maximum.
constexpr int kMostFailures = 6;
constexpr base::Duration kNoProviderRetry = std::chrono::minutes{1};
// Sets how soon a changed Secret is noticed. Only the Secret is read: refused
// credentials are not sent to the BMC again.
constexpr base::Backoff kSecretRetry{std::chrono::seconds{5}, std::chrono::minutes{1}};
// Sets how soon a passing state, such as a firmware update, is checked again.
constexpr base::Duration kPassingRetry = std::chrono::minutes{1};
// Sets how soon a refused change of a Secret is tried again.
constexpr base::Duration kSecretWriteRetry = std::chrono::minutes{1};

// Returns the fields of a host that change what is asked of its BMC or what its status says.
auto wish(const NodeSmithHost& host) {
    return std::tie(host.metadata.generation, host.metadata.uid, host.metadata.deletionTimestamp,
                    host.metadata.annotations, host.status.claimRef, host.status.phase,
                    host.status.systemUUID);
}

// Returns the fields of a claim from which its host's status is computed.
auto service(const NodeSmithClaim& claim) {
    const auto& status = claim.status;
    return std::tuple(status.host, status.capacity, claim.metadata.deletionTimestamp,
                      api::is_true(status.conditions, conditions::kRegistered),
                      api::is_true(status.conditions, conditions::kDisrupted));
}

std::string claim_uid(const NodeSmithHost& host) {
    return host.status.claimRef ? host.status.claimRef->uid : std::string();
}

bool is_older(const NodeSmithHost& a, const NodeSmithHost& b) {
    return std::tie(a.metadata.creationTimestamp, a.metadata.uid) <
           std::tie(b.metadata.creationTimestamp, b.metadata.uid);
}

}  // namespace

HostReconciler::HostReconciler(Informers& informers, kube::Client& client, base::Clock& clock,
                               base::Random& random, kube::EventRecorder& events,
                               base::MetricsRegistry& metrics, ProviderInstances& instances)
    : informers_(informers),
      client_(client),
      clock_(clock),
      random_(random),
      events_(events),
      instances_(instances),
      ready_(metrics.gauge("kubenodesmith_host_ready", "1 if the bare-metal host can be given to a claim.",
                           {"namespace", "host"})) {}

void HostReconciler::subscribe(kube::WorkQueue& queue) {
    const auto& hosts = informers_.hosts.store();
    kube::watch(informers_.hosts).changed(wish).enqueue(queue);
    const auto twins_of = [&hosts](const NodeSmithHost& host) {
        const auto uuid = uuid_key(host.status.systemUUID);
        return uuid.empty() ? kube::Keys() : kube::keys_of(hosts.by_index(kHostsBySystemUuid, uuid));
    };
    kube::watch(informers_.hosts).changed(wish).before_too().enqueue(queue, twins_of);

    const auto host_of = [&hosts](const NodeSmithClaim& claim) {
        const kube::ObjectKey key{claim.metadata.namespace_, claim.status.host};
        return hosts.get(key) ? kube::Keys{key} : kube::Keys();
    };
    kube::watch(informers_.claims).changed(service).before_too().enqueue(queue, host_of);

    const auto hosts_of = [&hosts](const NodeSmithProvider& provider) {
        return kube::keys_of(hosts.by_index(kHostsByProvider, api::key_of(provider).str()));
    };
    const auto provider = kube::watch(informers_.providers).changed(kube::kGeneration);
    provider.call([this, hosts_of](const NodeSmithProvider& object) {
        for (const auto& key : hosts_of(object)) {
            const auto known = looks_.find(key);
            if (known != looks_.end()) known->second.next = clock_.now();
        }
    });
    provider.enqueue(queue, hosts_of);
}

asio::awaitable<kube::Result> HostReconciler::reconcile(kube::ObjectKey key) {
    auto host = informers_.hosts.store().get(key);
    if (!host) {
        forget(key);
        co_await release_after_force(key);
        co_return kube::Result{};
    }
    const bool held_back = co_await is_held_back(informers_.hosts, key, client_, events_, clock_);
    if (held_back) co_return kube::Result{};
    host = informers_.hosts.store().get(key);
    if (!host) co_return kube::Result{};
    const bool is_tended = co_await tend_credentials(key);
    const auto current = informers_.hosts.store().get(key);
    const bool is_free = is_tended && current && !current->status.claimRef && !is_looked_for(*current);
    if (is_free) co_await drop_finalizer(client_, informers_.hosts, *current, api::finalizers::kHost);
    if (host->metadata.deletionTimestamp && !host->status.claimRef) {
        kube::Result result;
        if (!is_tended) result.requeue_after = kSecretWriteRetry;
        co_return result;
    }
    const bool is_abandoned = current && co_await has_nobody(*current);
    if (is_abandoned) {
        co_await release_unseen(*current);
        // The finalizer stays if the Secret could not be released. Otherwise the host is gone by then.
        co_return kube::Result{kSecretWriteRetry};
    }
    if (looks_[key].uid != host->metadata.uid) begin_look(key, *host);
    const bool due = is_due(looks_[key], *host);
    if (due) co_await ask(key, host);
    co_await write(key);
    const auto left = informers_.hosts.store().get(key);
    if (left && left->metadata.uid != host->metadata.uid) co_return kube::Result{base::Duration::zero()};
    const auto news = until_news(key);
    co_return kube::Result{is_tended ? news : std::min(news, kSecretWriteRetry)};
}

// Reports whether a claim still needs the host's object. A claim that ends reads its host once more, just
// after it released it. So the host's object must outlive the claim.
bool HostReconciler::is_looked_for(const NodeSmithHost& host) const {
    if (!api::has_finalizer(host.metadata, api::finalizers::kHost)) return false;
    return std::ranges::any_of(informers_.claims.store().all(), [&host](const auto& entry) {
        const auto& [key, claim] = entry;
        return key.namespace_ == host.metadata.namespace_ && claim->status.host == host.metadata.name &&
               claim->status.providerRef == host.spec.providerRef;
    });
}

// Reports whether no object is left that could release the host. Normally its claim does so, or its provider
// once it finds the claim gone. Both may have been deleted by force.
asio::awaitable<bool> HostReconciler::has_nobody(NodeSmithHost host) {
    if (!host.metadata.deletionTimestamp || !host.status.claimRef) co_return false;
    const kube::ObjectKey claim{host.metadata.namespace_, host.status.claimRef->name};
    const kube::ObjectKey provider{host.metadata.namespace_, host.spec.providerRef};
    if (informers_.claims.store().get(claim) || informers_.providers.store().get(provider)) co_return false;
    const auto live_claim = co_await client_.get<NodeSmithClaim>(claim);
    if (live_claim) co_return false;
    kube::ListOptions there;
    there.namespace_ = provider.namespace_;
    const auto live_providers = co_await client_.list<NodeSmithProvider>(there);
    co_return std::ranges::none_of(live_providers.existing(), [&provider](const auto* object) {
        return object->metadata.name == provider.name;
    });
}

asio::awaitable<void> HostReconciler::release_unseen(NodeSmithHost host) {
    const auto key = api::key_of(host);
    events_.warning(host, "ReleasedUnseen",
                    "the host is deleted without a check of its power state, because its claim " +
                        host.status.claimRef->name + " and its provider " + host.spec.providerRef +
                        " are gone; check yourself whether the host is on");
    const bool is_tended = co_await release(host);
    const auto current = informers_.hosts.store().get(key);
    if (is_tended && current)
        co_await drop_finalizer(client_, informers_.hosts, *current, api::finalizers::kHost);
}

asio::awaitable<void> HostReconciler::release_after_force(kube::ObjectKey key) {
    const auto known = protections_.find(key);
    if (known == protections_.end()) co_return;
    const kube::ObjectKey secret{key.namespace_, known->second.secret};
    auto uid = known->second.uid;
    // A refused release is tried again, so it is forgotten afterwards only.
    if (!secret.name.empty()) co_await instances_.credentials().release_after(secret, std::move(uid));
    protections_.erase(key);
}

// Releases the Secret of a host that no claim holds. A refusal does not stop the examination of the host.
asio::awaitable<bool> HostReconciler::release(NodeSmithHost host) {
    const auto key = api::key_of(host);
    const auto obstacle = co_await instances_.credentials().release_of_host(key);
    if (!obstacle.reason.empty()) {
        events_.warning(host, "CredentialsNotReleased", obstacle.message);
        co_return false;
    }
    protections_.erase(key);
    co_return true;
}

// Protects the host's Secret while a claim holds the host, because it is needed to turn the host off.
asio::awaitable<bool> HostReconciler::tend_credentials(kube::ObjectKey key) {
    const auto host = informers_.hosts.store().get(key);
    if (!host) co_return true;
    if (!host->status.claimRef) co_return co_await release(*host);
    if (!host->spec.bmc.credentialsSecretRef && host->status.protectedSecret.empty()) co_return true;
    const auto obstacle = co_await instances_.credentials().protect_of_host(key);
    const auto current = informers_.hosts.store().get(key);
    if (current) protections_[key] = {current->status.protectedSecret, current->metadata.uid};
    if (!obstacle.reason.empty()) events_.warning(*host, "CredentialsNotProtected", obstacle.message);
    co_return obstacle.reason != reasons::kRequestRefused;
}

// Returns the time until the next query, or until the pause in the host's status ends.
base::Duration HostReconciler::until_news(const kube::ObjectKey& key) {
    auto wait = looks_[key].next - clock_.now();
    const auto host = informers_.hosts.store().get(key);
    const auto& retry = host ? host->status.nextRetryTime : std::nullopt;
    const auto now = clock_.wall_now();
    if (retry && now < retry->at)
        wait = std::min(wait, std::chrono::duration_cast<base::Duration>(retry->at - now));
    return std::max(wait, base::Duration::zero());
}

// Restores the query time of a known host, so that a restart does not query a thousand BMCs simultaneously.
// Healthy hosts are spread over their interval. Failing ones are spread over the pause that they had reached.
void HostReconciler::begin_look(const kube::ObjectKey& key, const NodeSmithHost& host) {
    auto& look = looks_[key] = {};
    look.uid = host.metadata.uid;
    look.generation = -1;
    const bool is_known = api::is_true(host.status.conditions, conditions::kReachable) &&
                          host.status.phase != HostPhase::Discovering;
    look.failures = host.status.failedLooks;
    const bool fails = look.failures > 0;
    const bool is_same = host.status.observedGeneration == host.metadata.generation;
    if (!is_same || !(is_known || fails)) return;
    look.generation = host.metadata.generation.value_or(0);
    look.claim_uid = claim_uid(host);
    auto pause = fails ? kLookBackoff.after(look.failures) : interval(host);
    if (api::is_false(host.status.conditions, conditions::kAuthenticated))
        pause = std::min(pause, kSecretRetry.after(look.failures));
    look.next = clock_.now() + std::chrono::duration_cast<base::Duration>(pause * random_.unit());
}

bool HostReconciler::is_due(const Look& look, const NodeSmithHost& host) const {
    const bool changed =
        look.generation != host.metadata.generation.value_or(0) || look.claim_uid != claim_uid(host);
    return changed || clock_.now() >= look.next;
}

base::Duration HostReconciler::interval(const NodeSmithHost& host) const {
    api::v1alpha1::RedfishPolling polling;
    const auto provider = informers_.providers.store().get({host.metadata.namespace_, host.spec.providerRef});
    if (provider && provider->spec.redfish) polling = provider->spec.redfish->polling;
    const auto wanted = host.status.claimRef ? polling.active : polling.idle;
    return std::chrono::duration_cast<base::Duration>(wanted.value);
}

asio::awaitable<void> HostReconciler::ask(kube::ObjectKey key, HostPointer host) {
    const kube::ObjectKey provider_key{key.namespace_, host->spec.providerRef};
    const auto lookup = co_await instances_.get(provider_key);
    auto& look = looks_[key];
    look.generation = host->metadata.generation.value_or(0);
    look.claim_uid = claim_uid(*host);
    if (const auto* unavailable = std::get_if<ProviderUnavailable>(&lookup)) {
        providers::HostReport report;
        report.reason = unavailable->reason;
        report.message = unavailable->message;
        report.retry_after = kNoProviderRetry;
        look.report = std::move(report);
    } else {
        const auto provider = std::get<std::shared_ptr<providers::Provider>>(lookup);
        auto* examiner = provider->capabilities().host_examiner;
        providers::HostReport report;
        report.reason = api::reasons::kUnsupportedType;
        report.message = "NodeSmithProvider " + provider_key.str() + " is not of type redfish";
        if (examiner) report = co_await examiner->examine_host(key.name);
        const bool is_refused = report.reachable && !report.authenticated;
        if (is_refused && !host->spec.bmc.credentialsSecretRef) instances_.note_refusal(provider_key);
        looks_[key].report = std::move(report);
    }
    auto& looked = looks_[key];
    looked.at = api::Time(clock_.wall_now());
    // A claim that gives its host back has made sure that it is off.
    const bool is_given_back = looked.had_claim && host->status.phase == HostPhase::Discovering;
    looked.had_claim = host->status.claimRef.has_value();
    const bool says_off = looked.report->reason.empty() && looked.report->power_state == "Off";
    looked.is_off_new = says_off && host->status.powerState == "On" && !is_given_back;
    base::count_up(looked.failures);
    looked.failures = looked.report->reason.empty() ? 0 : std::min(looked.failures, kMostFailures);
    looked.next = clock_.now() + pause_after(looked, *host);
}

base::Duration HostReconciler::pause_after(const Look& look, const NodeSmithHost& host) {
    const auto& report = *look.report;
    if (look.failures > 0) {
        const auto wait = std::max(report.retry_after, kLookBackoff.after(look.failures, random_));
        const bool about_credentials = !report.authenticated && report.reason != api::reasons::kUnreachable;
        return about_credentials ? std::min(wait, kSecretRetry.after(look.failures)) : wait;
    }
    if (!report.state.empty() || report.power_state.empty() || look.is_off_new) return kPassingRetry;
    return std::chrono::duration_cast<base::Duration>(interval(host) * (0.8 + 0.4 * random_.unit()));
}

HostFacts HostReconciler::facts_of(const HostPointer& host,
                                   const std::shared_ptr<const NodeSmithClaim>& claim,
                                   const Look& look) const {
    HostFacts facts{*host};
    if (look.report) facts.report = &*look.report;
    const bool is_its = claim && host->status.claimRef && claim->metadata.uid == host->status.claimRef->uid;
    if (is_its) facts.claim = claim.get();
    if (look.report) facts.looked = look.at;
    facts.is_off_new = look.is_off_new;
    facts.failed_looks = look.failures;
    if (is_its) {
        const auto node = claim::noted_node(informers_, *claim);
        facts.has_ready_node = node && is_ready(*node);
        // An attempt may be given up just as its Node joins. That Node returns with the host.
        const auto joined = claim::node_of(informers_, *claim);
        if (joined) facts.node_uid = joined->metadata.uid;
    }
    auto uuid = host->status.systemUUID;
    if (facts.report && !facts.report->system_uuid.empty()) uuid = facts.report->system_uuid;
    if (!uuid.empty()) {
        for (const auto& other : informers_.hosts.store().by_index(kHostsBySystemUuid, uuid_key(uuid))) {
            if (api::key_of(*other) != api::key_of(*host) && is_older(*other, *host))
                facts.twin = api::key_of(*other).str();
        }
        for (const auto& form : {uuid, base::byte_swapped(uuid)}) {
            const auto nodes = informers_.nodes.store().by_index(kNodesBySystemUuid, form);
            if (!nodes.empty()) facts.node = nodes.front()->metadata.name;
        }
    }
    facts.now = api::Time(clock_.wall_now());
    return facts;
}

asio::awaitable<void> HostReconciler::write(kube::ObjectKey key) {
    const auto host = informers_.hosts.store().get(key);
    if (!host) co_return;
    std::shared_ptr<const NodeSmithClaim> claim;
    if (host->status.claimRef)
        claim = informers_.claims.store().get({key.namespace_, host->status.claimRef->name});
    // The host may have been deleted and made anew, with another BMC, while it was looked at.
    if (looks_[key].uid != host->metadata.uid) co_return;
    auto after = *host;
    after.status = next_host_status(facts_of(host, claim, looks_[key]));
    const auto* old_ready = api::find_condition(host->status.conditions, conditions::kReady);
    const auto new_ready = *api::find_condition(after.status.conditions, conditions::kReady);
    const bool is_news = !old_ready || old_ready->reason != new_ready.reason;
    const bool is_trouble =
        after.status.phase == HostPhase::Quarantined || after.status.phase == HostPhase::Foreign;
    co_await write_status(client_, informers_.hosts, *host, after);
    count(after);
    if (is_news && is_trouble)
        events_.event(kube::target_of(*host), kube::EventType::warning, new_ready.reason, new_ready.message);
}

asio::awaitable<void> HostReconciler::end_sessions() {
    std::vector<kube::ObjectKey> keys;
    for (const auto& [key, provider] : informers_.providers.store().all()) {
        if (provider->spec.redfish) keys.push_back(key);
    }
    for (const auto& key : keys) {
        const auto lookup = co_await instances_.get(key);
        const auto* backend = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
        auto* holder = backend ? (*backend)->capabilities().session_holder : nullptr;
        if (holder) co_await holder->end_sessions();
    }
}

void HostReconciler::count(const NodeSmithHost& host) {
    ready_.with({host.metadata.namespace_, host.metadata.name})
        .set(is_fit_for_use(host) && !host.status.claimRef ? 1 : 0);
}

void HostReconciler::forget(const kube::ObjectKey& key) {
    looks_.erase(key);
    ready_.remove({key.namespace_, key.name});
}

}  // namespace controllers
