// Holds the backend object of each NodeSmithProvider. It is created at first use from spec and
// Secret. It is recreated when either has changed or its cluster was recorded. A reconciler keeps
// the shared_ptr while it works. While a provider is being deleted, a working backend is kept even
// if its Secret is gone or unreadable.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "controllers/cache/informers.hpp"
#include "controllers/services/credentials_keeper.hpp"
#include "kube/client.hpp"
#include "providers/host_inventory.hpp"
#include "providers/provider.hpp"
#include "providers/registry/registry.hpp"

namespace controllers {

// ProviderUnavailable says why there is no backend now, for a condition.
struct ProviderUnavailable {
    std::string
        reason;  // ProviderMissing, CredentialsMissing, CredentialsRefused, ProviderInitializationFailed, ...
    std::string message;  // names the object and field, and the remedy; never the secret
};
using ProviderLookup = std::variant<std::shared_ptr<providers::Provider>, ProviderUnavailable>;

// Creates a backend; tests replace providers::make_provider.
using ProviderFactory = std::function<std::unique_ptr<providers::Provider>(providers::ProviderConfig,
                                                                           providers::ProviderEnvironment&)>;

class ProviderInstances {
public:
    ProviderInstances(Informers& informers, kube::Client& client, providers::ProviderEnvironment& environment,
                      ProviderFactory factory = providers::make_provider,
                      std::string credentials_role = kCredentialsRole);

    // Reads the Secret only if nothing is cached for this spec of the provider.
    asio::awaitable<ProviderLookup> get(kube::ObjectKey provider);
    // Reads the Secret again, and recreates the backend if its data has changed.
    asio::awaitable<ProviderLookup> refresh(kube::ObjectKey provider);
    // Ends the sessions of the backend of a provider that is gone.
    asio::awaitable<void> forget(kube::ObjectKey provider);
    // Sets a handler that is called whenever a provider's backend refuses the credentials of its Secret.
    void on_refusal(std::function<void(const kube::ObjectKey& provider)> handler);
    // Notes that a host refused the credentials of the provider's Secret. The handler is then called with
    // pauses of five to thirty seconds.
    void note_refusal(const kube::ObjectKey& provider);
    // Returns the UID of the kube-system namespace, which marks our machines. It is read
    // once, from the namespaces' store.
    std::string cluster_id() const;
    // Returns the keeper of the Secrets that backends are made from.
    CredentialsKeeper& credentials() { return credentials_; }

private:
    struct Entry {
        std::string uid;
        api::v1alpha1::ProviderSpec spec;
        std::map<std::string, std::string> credentials;
        std::string version;                // version of their Secret
        providers::BackendCluster cluster;  // as recorded when the backend was created
        std::shared_ptr<providers::Provider> provider;
    };
    using CredentialsLookup = std::variant<providers::SecretData, ProviderUnavailable>;

    static bool is_current(const Entry& entry, const NodeSmithProvider& object);
    asio::awaitable<void> drop(NodeSmithProvider object);
    asio::awaitable<void> erase(kube::ObjectKey key);
    asio::awaitable<CredentialsLookup> credentials_of(std::shared_ptr<const NodeSmithProvider> object);
    asio::awaitable<ProviderLookup> build(kube::ObjectKey key);
    asio::awaitable<void> say_farewell(std::shared_ptr<providers::Provider> backend);

    Informers& informers_;
    kube::Client& client_;
    providers::ProviderEnvironment& environment_;
    ProviderFactory factory_;
    CredentialsKeeper credentials_;
    std::map<kube::ObjectKey, Entry> entries_;
    struct Refusals {
        base::TimePoint last{};
        int count = 0;  // consecutive
    };
    std::map<kube::ObjectKey, Refusals> refusals_;
};

}  // namespace controllers
