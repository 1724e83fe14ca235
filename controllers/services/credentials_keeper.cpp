#include "controllers/services/credentials_keeper.hpp"

#include "api/names.hpp"
#include "base/log.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/services/claim_refusals.hpp"

namespace controllers {

using api::v1alpha1::NodeSmithHost;

namespace {

// A webhook may hang for 30 s, and many claims need the same Secret.
constexpr base::Duration kRefusalPause = std::chrono::seconds{30};

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

// Reports whether the operator lacks the right. A webhook or policy that denies may answer with the same
// code.
bool lacks_right(const kube::ApiError& error) {
    return error.is_forbidden() && !is_policy_denial(error);
}

bool is_blocked(const kube::ApiError& error) {
    return is_refusal(error) || is_unanswered(error);
}

CredentialsObstacle not_protected(const kube::ObjectKey& secret, const kube::ApiError& error) {
    return {std::string(reasons::kRequestRefused),
            "Secret " + secret.str() +
                " does not carry the operator's finalizer, so do not delete it before the claims that need "
                "it. A write that this needs is refused or not answered, and is tried again every minute: " +
                error.what()};
}

CredentialsObstacle not_released(const kube::ObjectKey& secret, const kube::ApiError& error) {
    return {std::string(reasons::kRequestRefused),
            "Secret " + secret.str() +
                " is no longer needed and may still carry the operator's finalizer. A write that its release "
                "needs is refused or not answered, and is tried again every minute: " +
                error.what()};
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

CredentialsKeeper::CredentialsKeeper(Informers& informers, kube::Client& client, const base::Clock& clock,
                                     asio::any_io_executor executor, std::string role)
    : informers_(informers),
      client_(client),
      clock_(clock),
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

asio::awaitable<CredentialsObstacle> CredentialsKeeper::release_of_provider(kube::ObjectKey provider) {
    co_return co_await release(informers_.providers, std::move(provider));
}

asio::awaitable<CredentialsObstacle> CredentialsKeeper::release_of_host(kube::ObjectKey host) {
    co_return co_await release(informers_.hosts, std::move(host));
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
        auto obstacle = co_await try_to_release(former, object->metadata.uid);
        if (!obstacle.reason.empty()) co_return obstacle;
    }
    // No machine was made with a Secret that is missing, so no deletion may wait for it.
    const bool is_first = recorded.empty() && !secret.name.empty();
    const bool is_absent = is_first && co_await is_missing(client_, secret);
    if (is_absent) co_return missing(secret);
    auto after = *object;
    after.status.protectedSecret = secret.name;
    co_await write_status(client_, informer, *object, std::move(after));
    if (secret.name.empty()) co_return CredentialsObstacle{};
    // The Secret is recorded by now, so that nobody who no longer needs it releases it.
    if (auto refusal = recent_refusal(secret); !looks_again && !refusal.reason.empty()) co_return refusal;
    co_return co_await add_finalizer(secret);
}

template <api::Kind T>
asio::awaitable<CredentialsObstacle> CredentialsKeeper::release(kube::Informer<T>& informer,
                                                                kube::ObjectKey key) {
    auto object = informer.store().get(key);
    if (!object || object->status.protectedSecret.empty()) co_return CredentialsObstacle{};
    // Any object that needs it waits for its turn from now on.
    protected_.erase({key.namespace_, object->status.protectedSecret});
    const auto turn = co_await turns_.enter(key.namespace_);
    object = informer.store().get(key);
    if (!object || object->status.protectedSecret.empty()) co_return CredentialsObstacle{};
    const kube::ObjectKey secret{key.namespace_, object->status.protectedSecret};
    // Many objects may release one Secret, and each write may hang for half a minute.
    if (auto refusal = recent_refusal(secret); !refusal.reason.empty()) co_return refusal;
    auto obstacle = co_await try_to_release(secret, object->metadata.uid);
    // The recorded name lets a later attempt find the Secret.
    if (!obstacle.reason.empty()) co_return obstacle;
    object = informer.store().get(key);
    if (!object) co_return CredentialsObstacle{};
    auto after = *object;
    after.status.protectedSecret.clear();
    co_await write_status(client_, informer, *object, std::move(after));
    co_return CredentialsObstacle{};
}

asio::awaitable<CredentialsObstacle> CredentialsKeeper::try_to_release(kube::ObjectKey secret,
                                                                       std::string uid) {
    try {
        co_await remove_finalizer(secret, std::move(uid));
    } catch (const kube::ApiError& error) {
        if (!is_blocked(error)) throw;
        auto obstacle = not_released(secret, error);
        refusals_[secret] = {obstacle, clock_.now() + kRefusalPause};
        co_return obstacle;
    }
    co_return CredentialsObstacle{};
}

CredentialsObstacle CredentialsKeeper::recent_refusal(const kube::ObjectKey& secret) const {
    const auto found = refusals_.find(secret);
    const bool is_recent = found != refusals_.end() && clock_.now() < found->second.pause_ends;
    return is_recent ? found->second.obstacle : CredentialsObstacle{};
}

asio::awaitable<CredentialsObstacle> CredentialsKeeper::add_finalizer(kube::ObjectKey secret) {
    refusals_.erase(secret);
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
        if (lacks_right(error) || error.is_not_found()) co_return forbidden(secret, error);
        if (!is_blocked(error)) throw;
        auto obstacle = not_protected(secret, error);
        refusals_[secret] = {obstacle, clock_.now() + kRefusalPause};
        co_return obstacle;
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
        if (!lacks_right(error) && !error.is_not_found()) throw;
        if (lacks_right(error))
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
