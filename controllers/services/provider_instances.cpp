#include "controllers/services/provider_instances.hpp"

#include "base/backoff.hpp"
#include "base/saturating.hpp"
#include "base/task_group.hpp"
#include "controllers/services/secret_data.hpp"
#include "controllers/state/acceptance.hpp"
#include "providers/errors.hpp"

namespace controllers {

namespace {

// All hosts of a rack refuse the same Secret repeatedly.
constexpr base::Backoff kBetweenRefusals{std::chrono::seconds{5}, std::chrono::seconds{30}};
// After this time without a refusal, the next one counts as the first.
constexpr base::Duration kQuiet = std::chrono::minutes{5};
// Limits how long the sessions of a backend may take to end.
constexpr base::Duration kFarewell = std::chrono::seconds{10};

ProviderUnavailable unavailable(std::string_view reason, std::string message) {
    return {std::string(reason), std::move(message)};
}

providers::BackendCluster recorded_cluster(const NodeSmithProvider& provider) {
    const auto& recorded = provider.status.cluster;
    return recorded ? providers::BackendCluster{recorded->name, recorded->id} : providers::BackendCluster();
}

}  // namespace

ProviderInstances::ProviderInstances(Informers& informers, kube::Client& client,
                                     providers::ProviderEnvironment& environment, ProviderFactory factory,
                                     std::string credentials_role)
    : informers_(informers),
      client_(client),
      environment_(environment),
      factory_(std::move(factory)),
      credentials_(informers, client, environment.clock, environment.executor, std::move(credentials_role)) {}

// Compares the spec, because a deletionTimestamp raises metadata.generation and changes nothing in a backend.
bool ProviderInstances::is_current(const Entry& entry, const NodeSmithProvider& object) {
    return entry.provider && entry.uid == object.metadata.uid && entry.spec == object.spec &&
           entry.cluster == recorded_cluster(object);
}

asio::awaitable<ProviderLookup> ProviderInstances::get(kube::ObjectKey key) {
    const auto object = informers_.providers.store().get(key);
    if (object && !is_understood(object->metadata))
        co_return unavailable(reasons::kUnknownValue, why_not_understood(object->metadata));
    const auto entry = entries_.find(key);
    if (object && entry != entries_.end() && is_current(entry->second, *object))
        co_return entry->second.provider;
    co_return co_await build(key);
}

asio::awaitable<ProviderLookup> ProviderInstances::refresh(kube::ObjectKey key) {
    const auto known = informers_.providers.store().get(key);
    if (known && !is_understood(known->metadata))
        co_return unavailable(reasons::kUnknownValue, why_not_understood(known->metadata));
    auto lookup = co_await build(key);
    // The object may have changed during the wait.
    const auto object = informers_.providers.store().get(key);
    const auto entry = entries_.find(key);
    const bool is_leaving = object && object->metadata.deletionTimestamp;
    // The backend removes its machines with its present credentials, whatever happened to the Secret.
    const bool is_kept = std::holds_alternative<ProviderUnavailable>(lookup) && is_leaving &&
                         entry != entries_.end() && is_current(entry->second, *object);
    if (is_kept) lookup = entry->second.provider;
    co_return lookup;
}

void ProviderInstances::on_refusal(std::function<void(const kube::ObjectKey&)> handler) {
    environment_.on_credentials_refused = [handler = std::move(handler)](const std::string& provider) {
        const auto slash = provider.find('/');
        handler({provider.substr(0, slash), provider.substr(slash + 1)});
    };
}

void ProviderInstances::note_refusal(const kube::ObjectKey& key) {
    const auto now = environment_.clock.now();
    auto& [last, count] = refusals_[key];
    if (now >= last + kQuiet) count = 0;
    if (now < last + kBetweenRefusals.after(count)) return;
    last = now;
    base::count_up(count);
    if (environment_.on_credentials_refused) environment_.on_credentials_refused(key.str());
}

asio::awaitable<void> ProviderInstances::forget(kube::ObjectKey key) {
    refusals_.erase(key);
    co_await erase(key);
}

asio::awaitable<void> ProviderInstances::erase(kube::ObjectKey key) {
    const auto entry = entries_.extract(key);
    if (!entry.empty() && entry.mapped().provider) co_await say_farewell(entry.mapped().provider);
}

std::string ProviderInstances::cluster_id() const {
    const auto system = informers_.namespaces.store().get({"", "kube-system"});
    return system ? system->metadata.uid : std::string();
}

asio::awaitable<ProviderInstances::CredentialsLookup> ProviderInstances::credentials_of(
    std::shared_ptr<const NodeSmithProvider> object) {
    const auto& reference = object->spec.credentialsSecretRef;
    if (!reference) co_return providers::SecretData{};
    const auto& home = object->metadata.namespace_;
    if (!reference->namespace_.empty() && reference->namespace_ != home)
        co_return unavailable(reasons::kSecretNamespaceRefused,
                              "spec.credentialsSecretRef.namespace is " + reference->namespace_ +
                                  "; only the provider's own namespace " + home + " is accepted");
    const kube::ObjectKey key{home, reference->name};
    try {
        const auto secret = co_await client_.get<api::Secret>(key);
        if (secret) co_return secret_data(*secret);
    } catch (const kube::ApiError& error) {
        if (!error.is_forbidden()) throw;
        co_return unavailable(reasons::kSecretForbidden,
                              "the operator may not read Secret " + key.str() +
                                  " (spec.credentialsSecretRef): apply the RoleBinding "
                                  "kubenodesmith-credentials in that namespace: " +
                                  error.message);
    }
    co_return unavailable(reasons::kSecretMissing,
                          "there is no Secret " + key.str() + " (spec.credentialsSecretRef): create it");
}

// Drops the backend, unless its provider is being deleted: a working one continues to remove machines.
asio::awaitable<void> ProviderInstances::drop(NodeSmithProvider object) {
    if (!object.metadata.deletionTimestamp) co_await erase(api::key_of(object));
}

// Keeps the existing backend if its spec and its Secret are unchanged, because
// it holds connections and tickets.
asio::awaitable<ProviderLookup> ProviderInstances::build(kube::ObjectKey key) {
    const auto object = informers_.providers.store().get(key);
    if (!object) {
        co_await erase(key);
        co_return unavailable(reasons::kProviderMissing, "there is no NodeSmithProvider " + key.str());
    }
    if (cluster_id().empty()) {
        co_return unavailable(
            reasons::kNotReconciled,
            "namespace kube-system is not known yet; its UID marks the operator's machines");
    }
    auto read = co_await credentials_of(object);
    if (auto* why = std::get_if<ProviderUnavailable>(&read)) co_return std::move(*why);
    auto& credentials = std::get<providers::SecretData>(read);
    auto& entry = entries_[key];
    if (!is_current(entry, *object) || entry.credentials != credentials.data) {
        providers::ProviderConfig config;
        config.namespace_ = key.namespace_;
        config.name = key.name;
        config.uid = object->metadata.uid;
        config.cluster_id = cluster_id();
        config.backend_cluster = recorded_cluster(*object);
        config.spec = object->spec;
        config.credentials = credentials.data;
        config.credentials_version = credentials.version;
        const auto before = entry.provider;
        std::optional<ProviderUnavailable> why_not;
        try {
            entry.provider = factory_(std::move(config), environment_);
        } catch (const providers::CredentialsError& error) {
            why_not = unavailable(reasons::kSecretKeyMissing, error.what());
        } catch (const std::invalid_argument& error) {
            why_not = unavailable(reasons::kProviderInitializationFailed, error.what());
        }
        if (why_not) {
            co_await drop(*object);
            co_return std::move(*why_not);
        }
        entry.cluster = recorded_cluster(*object);
        entry.uid = object->metadata.uid;
        entry.spec = object->spec;
        entry.credentials = std::move(credentials.data);
        entry.version = credentials.version;
        const auto made = entry.provider;
        if (before) co_await say_farewell(before);
        co_return made;
    }
    if (entry.version != credentials.version) {
        entry.version = credentials.version;
        auto* holder = entry.provider->capabilities().session_holder;
        if (holder) holder->follow_credentials(entry.version);
    }
    co_return entry.provider;
}

// Ends sessions: BMCs have few, and those of a replaced or dropped backend would stay open.
asio::awaitable<void> ProviderInstances::say_farewell(std::shared_ptr<providers::Provider> backend) {
    auto* holder = backend->capabilities().session_holder;
    if (!holder) co_return;
    auto& clock = environment_.clock;
    co_await base::run_before(clock, clock.now() + kFarewell, holder->end_sessions());
}

}  // namespace controllers
