// The backend object of each NodeSmithProvider: made on first use from its spec and its Secret, made
// anew when either has changed, or the cluster that its machines are on was recorded. A reconciler keeps the
// shared_ptr while it works. While the provider is being deleted, a backend that works is kept although its
// Secret is gone or may not be read any more.
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

// Why there is no backend now: for a condition.
struct ProviderUnavailable {
    std::string
        reason;  // ProviderMissing, CredentialsMissing, CredentialsRefused, ProviderInitializationFailed, ...
    std::string message;  // names the object and field, and what would be right; never the secret
};
using ProviderLookup = std::variant<std::shared_ptr<providers::Provider>, ProviderUnavailable>;

// Makes a backend; providers::make_provider but in tests.
using ProviderFactory = std::function<std::unique_ptr<providers::Provider>(providers::ProviderConfig,
                                                                           providers::ProviderEnvironment&)>;

class ProviderInstances {
public:
    ProviderInstances(Informers& informers, kube::Client& client, providers::ProviderEnvironment& environment,
                      ProviderFactory factory = providers::make_provider,
                      std::string credentials_role = kCredentialsRole);

    // Reads the Secret only if nothing is cached for this spec of the provider.
    asio::awaitable<ProviderLookup> get(kube::ObjectKey provider);
    // Reads the Secret again; the backend is made anew if its data has changed.
    asio::awaitable<ProviderLookup> refresh(kube::ObjectKey provider);
    // The provider is gone: the sessions of its backend end.
    asio::awaitable<void> forget(kube::ObjectKey provider);
    // Called each time that the backend of a provider refuses what its Secret held.
    void on_refusal(std::function<void(const kube::ObjectKey& provider)> handler);
    // A host of the provider refused what the provider's Secret held; the handler is called for that with
    // pauses of five to thirty seconds.
    void note_refusal(const kube::ObjectKey& provider);
    // UID of the kube-system namespace: what marks our machines. Read once, from the namespaces' store.
    std::string cluster_id() const;
    // Keeps the Secrets that backends are made from.
    CredentialsKeeper& credentials() { return credentials_; }

private:
    struct Entry {
        std::string uid;
        api::v1alpha1::ProviderSpec spec;
        std::map<std::string, std::string> credentials;
        std::string version;                // of their Secret
        providers::BackendCluster cluster;  // as it was recorded when the backend was made
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
        int count = 0;  // in a row
    };
    std::map<kube::ObjectKey, Refusals> refusals_;
};

}  // namespace controllers
