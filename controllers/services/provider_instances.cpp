#include "controllers/services/provider_instances.hpp"

#include "controllers/services/secret_data.hpp"
#include "providers/errors.hpp"

namespace controllers {

namespace {

ProviderUnavailable unavailable(std::string_view reason, std::string message) {
    return {std::string(reason), std::move(message)};
}

providers::BackendCluster recorded_cluster(const NodeSmithProvider& provider) {
    const auto& recorded = provider.status.cluster;
    return recorded ? providers::BackendCluster{recorded->name, recorded->id} : providers::BackendCluster();
}

}  // namespace

ProviderInstances::ProviderInstances(Informers& informers, kube::Client& client,
                                     providers::ProviderEnvironment& environment, ProviderFactory factory)
    : informers_(informers), client_(client), environment_(environment), factory_(std::move(factory)) {}

asio::awaitable<ProviderLookup> ProviderInstances::get(kube::ObjectKey key) {
    const auto object = informers_.providers.store().get(key);
    const auto entry = entries_.find(key);
    if (object && entry != entries_.end() && entry->second.uid == object->metadata.uid &&
        entry->second.generation == object->metadata.generation.value_or(0) &&
        entry->second.cluster == recorded_cluster(*object)) {
        co_return entry->second.provider;
    }
    co_return co_await build(key);
}

asio::awaitable<ProviderLookup> ProviderInstances::refresh(kube::ObjectKey key) {
    co_return co_await build(key);
}

void ProviderInstances::forget(const kube::ObjectKey& key) {
    entries_.erase(key);
}

std::string ProviderInstances::cluster_id() const {
    const auto system = informers_.namespaces.store().get({"", "kube-system"});
    return system ? system->metadata.uid : std::string();
}

// Keeps the backend that there is if its spec and its Secret are unchanged: it holds connections and tickets.
asio::awaitable<ProviderLookup> ProviderInstances::build(kube::ObjectKey key) {
    const auto object = informers_.providers.store().get(key);
    if (!object) {
        entries_.erase(key);
        co_return unavailable(reasons::kProviderMissing, "there is no NodeSmithProvider " + key.str());
    }
    if (cluster_id().empty()) {
        co_return unavailable(reasons::kNotReconciled,
                              "namespace kube-system is not known yet; its UID marks our machines");
    }
    providers::SecretData credentials;
    if (const auto& reference = object->spec.credentialsSecretRef) {
        if (!reference->namespace_.empty() && reference->namespace_ != key.namespace_) {
            co_return unavailable(reasons::kSecretNamespaceRefused,
                                  "spec.credentialsSecretRef.namespace is " + reference->namespace_ +
                                      "; only the provider's own namespace " + key.namespace_ +
                                      " is accepted");
        }
        const kube::ObjectKey secret_key{key.namespace_, reference->name};
        const auto secret = co_await client_.get<api::Secret>(secret_key);
        if (!secret) {
            co_return unavailable(reasons::kSecretMissing,
                                  "there is no Secret " + secret_key.str() + " (spec.credentialsSecretRef)");
        }
        credentials = secret_data(*secret);
    }
    auto& entry = entries_[key];
    const auto generation = object->metadata.generation.value_or(0);
    const bool same = entry.provider && entry.uid == object->metadata.uid && entry.generation == generation &&
                      entry.credentials == credentials.data && entry.cluster == recorded_cluster(*object);
    if (!same) {
        providers::ProviderConfig config;
        config.namespace_ = key.namespace_;
        config.name = key.name;
        config.uid = object->metadata.uid;
        config.cluster_id = cluster_id();
        config.backend_cluster = recorded_cluster(*object);
        config.spec = object->spec;
        config.credentials = credentials.data;
        config.credentials_version = credentials.version;
        try {
            entry.provider = factory_(std::move(config), environment_);
        } catch (const providers::CredentialsError& error) {
            entries_.erase(key);
            co_return unavailable(reasons::kSecretKeyMissing, error.what());
        } catch (const std::invalid_argument& error) {
            entries_.erase(key);
            co_return unavailable(reasons::kProviderInitializationFailed, error.what());
        }
        entry.cluster = recorded_cluster(*object);
        entry.uid = object->metadata.uid;
        entry.generation = generation;
        entry.credentials = std::move(credentials.data);
    }
    co_return entry.provider;
}

}  // namespace controllers
