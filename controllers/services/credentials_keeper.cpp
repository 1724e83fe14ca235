#include "controllers/services/credentials_keeper.hpp"

#include "api/names.hpp"
#include "base/log.hpp"
#include "controllers/cache/writes.hpp"

namespace controllers {

using api::v1alpha1::NodeSmithHost;

namespace {

// Returns the Secret to protect; empty: none is named, or its namespace is not accepted.
std::string secret_of(const std::optional<api::v1alpha1::SecretReference>& reference,
                      const std::string& namespace_) {
    if (!reference || (!reference->namespace_.empty() && reference->namespace_ != namespace_)) return {};
    return reference->name;
}

std::string secret_of(const NodeSmithProvider& provider) {
    return secret_of(provider.spec.credentialsSecretRef, provider.metadata.namespace_);
}

std::string secret_of(const NodeSmithHost& host) {
    return secret_of(host.spec.bmc.credentialsSecretRef, host.metadata.namespace_);
}

std::string command_to_release(const kube::ObjectKey& secret) {
    return "kubectl patch secret " + secret.name + " --namespace " + secret.namespace_ +
           " --type merge --patch '{\"metadata\":{\"finalizers\":null}}'";
}

CredentialsObstacle missing(const kube::ObjectKey& secret) {
    return {std::string(reasons::kSecretMissing), "there is no Secret " + secret.str()};
}

CredentialsObstacle being_deleted(const kube::ObjectKey& secret) {
    return {std::string(reasons::kDeleting),
            "Secret " + secret.str() +
                " is being deleted and is kept while machines need it: it is gone once the last of their "
                "claims is. To continue to use it, release it (" +
                command_to_release(secret) + ") and create it again"};
}

CredentialsObstacle forbidden(const kube::ObjectKey& secret, const kube::ApiError& error) {
    return {std::string(reasons::kSecretForbidden),
            "Secret " + secret.str() +
                " does not carry the operator's finalizer, so do not delete it before the claims that need "
                "it. Apply the RoleBinding kubenodesmith-credentials of this release in namespace " +
                secret.namespace_ + ": " + error.what()};
}

// Returns false if the operator may not read the Secret.
asio::awaitable<bool> is_missing(kube::Client& client, kube::ObjectKey secret) {
    try {
        const auto found = co_await client.get<api::Secret>(secret);
        co_return !found.has_value();
    } catch (const kube::ApiError& error) {
        if (!error.is_forbidden()) throw;
    }
    co_return false;
}

}  // namespace

CredentialsKeeper::CredentialsKeeper(Informers& informers, kube::Client& client,
                                     asio::any_io_executor executor, std::string role)
    : informers_(informers),
      client_(client),
      rights_(client, std::move(role)),
      turns_(std::move(executor), 1) {}

asio::awaitable<CredentialsObstacle> CredentialsKeeper::protect_of_provider(kube::ObjectKey provider,
                                                                            bool looks_again) {
    co_return co_await protect(informers_.providers, std::move(provider), looks_again);
}

asio::awaitable<CredentialsObstacle> CredentialsKeeper::protect_of_host(kube::ObjectKey host,
                                                                        bool looks_again) {
    co_return co_await protect(informers_.hosts, std::move(host), looks_again);
}

asio::awaitable<void> CredentialsKeeper::release_of_provider(kube::ObjectKey provider) {
    co_await release(informers_.providers, std::move(provider));
}

asio::awaitable<void> CredentialsKeeper::release_of_host(kube::ObjectKey host) {
    co_await release(informers_.hosts, std::move(host));
}

asio::awaitable<void> CredentialsKeeper::release_after(kube::ObjectKey secret, std::string uid) {
    protected_.erase(secret);
    const auto turn = co_await turns_.enter(secret.namespace_);
    co_await remove_finalizer(secret, std::move(uid));
}

template <api::Kind T>
asio::awaitable<CredentialsObstacle> CredentialsKeeper::protect(kube::Informer<T>& informer,
                                                                kube::ObjectKey key, bool looks_again) {
    auto object = informer.store().get(key);
    if (!object) co_return CredentialsObstacle{};
    kube::ObjectKey secret{key.namespace_, secret_of(*object)};
    const bool is_known =
        object->status.protectedSecret == secret.name && (secret.name.empty() || protected_.contains(secret));
    if (is_known && !looks_again) co_return CredentialsObstacle{};
    const auto turn = co_await turns_.enter(key.namespace_);
    object = informer.store().get(key);
    if (!object) co_return CredentialsObstacle{};
    secret.name = secret_of(*object);
    const auto& recorded = object->status.protectedSecret;
    if (!recorded.empty() && recorded != secret.name) {
        const kube::ObjectKey former{key.namespace_, recorded};
        co_await remove_finalizer(former, object->metadata.uid);
    }
    // No machine was made with a Secret that is missing, so no deletion may wait for it.
    const bool is_first = recorded.empty() && !secret.name.empty();
    const bool is_absent = is_first && co_await is_missing(client_, secret);
    if (is_absent) co_return missing(secret);
    auto after = *object;
    after.status.protectedSecret = secret.name;
    co_await write_status(client_, informer, *object, std::move(after));
    if (secret.name.empty()) co_return CredentialsObstacle{};
    co_return co_await add_finalizer(secret);
}

template <api::Kind T>
asio::awaitable<void> CredentialsKeeper::release(kube::Informer<T>& informer, kube::ObjectKey key) {
    auto object = informer.store().get(key);
    if (!object || object->status.protectedSecret.empty()) co_return;
    // Any object that needs it waits for its turn from now on.
    protected_.erase({key.namespace_, object->status.protectedSecret});
    const auto turn = co_await turns_.enter(key.namespace_);
    object = informer.store().get(key);
    if (!object || object->status.protectedSecret.empty()) co_return;
    const kube::ObjectKey secret{key.namespace_, object->status.protectedSecret};
    co_await remove_finalizer(secret, object->metadata.uid);
    object = informer.store().get(key);
    if (!object) co_return;
    auto after = *object;
    after.status.protectedSecret.clear();
    co_await write_status(client_, informer, *object, std::move(after));
}

asio::awaitable<CredentialsObstacle> CredentialsKeeper::add_finalizer(kube::ObjectKey secret) {
    try {
        const auto found = co_await client_.get<api::Secret>(secret);
        if (!found) {
            protected_.erase(secret);
            co_return missing(secret);
        }
        const bool has_it = api::has_finalizer(found->metadata, api::finalizers::kCredentials);
        const bool is_leaving = found->metadata.deletionTimestamp.has_value();
        // An object that is being deleted accepts no finalizers.
        if (!has_it && is_leaving) co_return being_deleted(secret);
        co_await rights_.keep(secret.namespace_);
        if (!has_it) {
            kube::Patch patch;
            patch.type = kube::Patch::Type::json;
            patch.body = add_finalizer_patch(found->metadata, api::finalizers::kCredentials);
            co_await client_.patch<api::Secret>(secret, std::move(patch));
        }
        protected_.insert(secret);
        if (is_leaving) co_return being_deleted(secret);
    } catch (const kube::ApiError& error) {
        // 404: the ClusterRole of the rights does not exist.
        if (!error.is_forbidden() && !error.is_not_found()) throw;
        co_return forbidden(secret, error);
    }
    co_return CredentialsObstacle{};
}

asio::awaitable<void> CredentialsKeeper::remove_finalizer(kube::ObjectKey secret, std::string uid) {
    protected_.erase(secret);
    const auto others = co_await needed_by_others(secret.namespace_, std::move(uid));
    if (others.contains(secret.name)) co_return;
    try {
        const auto found = co_await client_.get<api::Secret>(secret);
        if (found && api::has_finalizer(found->metadata, api::finalizers::kCredentials)) {
            kube::Patch patch;
            patch.type = kube::Patch::Type::json;
            patch.body = remove_finalizer_patch(found->metadata, api::finalizers::kCredentials);
            co_await client_.patch<api::Secret>(secret, std::move(patch));
        }
    } catch (const kube::ApiError& error) {
        // The rights end with the last Secret of a namespace, so an earlier process may have done this.
        if (!error.is_forbidden() && !error.is_not_found()) throw;
        if (error.is_forbidden())
            base::log::warning(
                "Cannot check whether a Secret carries the operator's finalizer",
                {{"secret", secret.str()}, {"error", error.what()}, {"remedy", command_to_release(secret)}});
    }
    if (others.empty()) co_await rights_.give_up(secret.namespace_);
}

asio::awaitable<std::set<std::string>> CredentialsKeeper::needed_by_others(std::string namespace_,
                                                                           std::string uid) {
    std::set<std::string> names;
    const auto note = [&](const auto& object) {
        const auto& name = object.status.protectedSecret;
        if (!name.empty() && object.metadata.uid != uid) names.insert(name);
    };
    kube::ListOptions there;
    there.namespace_ = std::move(namespace_);
    const auto providers = co_await client_.list<NodeSmithProvider>(there);
    const auto hosts = co_await client_.list<NodeSmithHost>(there);
    for (const auto* provider : providers.existing()) note(*provider);
    for (const auto* host : hosts.existing()) note(*host);
    co_return names;
}

}  // namespace controllers
