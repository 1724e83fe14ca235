// CredentialsKeeper puts our finalizer on the Secrets of providers and hosts while machines need them, so
// that a machine can be removed whatever is deleted first. The object that needs a Secret records its name
// (status.protectedSecret) before the finalizer is added, and forgets it after the finalizer was removed.
// Several objects may share a Secret: the last one takes the finalizer off.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <set>
#include <string>

#include "base/gate.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/services/rights_keeper.hpp"

namespace controllers {

// Why a Secret does not carry the finalizer, or is being deleted; without a reason all is well.
struct CredentialsObstacle {
    std::string reason;   // SecretMissing, SecretForbidden, Deleting
    std::string message;  // what a person can do
};

class CredentialsKeeper {
public:
    // `informers` and `client` must outlive this. `role`: see RightsKeeper.
    CredentialsKeeper(Informers& informers, kube::Client& client, asio::any_io_executor executor,
                      std::string role = kCredentialsRole);

    // Protects the Secret that the object names, and releases another one that it named before. It asks the
    // API server only if this process has not done so yet, or if `looks_again`. Throws ApiError.
    asio::awaitable<CredentialsObstacle> protect_of_provider(kube::ObjectKey provider,
                                                             bool looks_again = false);
    asio::awaitable<CredentialsObstacle> protect_of_host(kube::ObjectKey host, bool looks_again = false);
    // The object needs no Secret any more. Repeatable. Throws ApiError.
    asio::awaitable<void> release_of_provider(kube::ObjectKey provider);
    asio::awaitable<void> release_of_host(kube::ObjectKey host);
    // The object was taken away by force: its Secret is released if no other object needs it.
    asio::awaitable<void> release_after(kube::ObjectKey secret, std::string uid);

private:
    template <api::Kind T>
    asio::awaitable<CredentialsObstacle> protect(kube::Informer<T>& informer, kube::ObjectKey key,
                                                 bool looks_again);
    template <api::Kind T>
    asio::awaitable<void> release(kube::Informer<T>& informer, kube::ObjectKey key);
    asio::awaitable<CredentialsObstacle> add_finalizer(kube::ObjectKey secret);
    // `uid`: of the object that needs it no longer.
    asio::awaitable<void> remove_finalizer(kube::ObjectKey secret, std::string uid);
    // The names of the Secrets that objects of the namespace other than that one have on record.
    asio::awaitable<std::set<std::string>> needed_by_others(std::string namespace_, std::string uid);

    Informers& informers_;
    kube::Client& client_;
    RightsKeeper rights_;
    base::Gate turns_;                     // one at a time in a namespace
    std::set<kube::ObjectKey> protected_;  // seen by this process with the finalizer
};

}  // namespace controllers
