// CredentialsKeeper puts our finalizer on the Secrets of providers and hosts while machines need them. So a
// machine can be removed whatever is deleted first. The object that needs a Secret records its name
// (status.protectedSecret) before the finalizer is added. It forgets the name after the removal. Several
// objects may share a Secret: the last one removes the finalizer.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <set>
#include <string>

#include "base/gate.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/services/rights_keeper.hpp"

namespace controllers {

// CredentialsObstacle says why a Secret lacks the finalizer, or that it is being
// deleted; empty reason: no obstacle.
struct CredentialsObstacle {
    std::string reason;   // SecretMissing, SecretForbidden, Deleting
    std::string message;  // remedy for a person
};

class CredentialsKeeper {
public:
    // `informers` and `client` must outlive this object. `role`: see RightsKeeper.
    CredentialsKeeper(Informers& informers, kube::Client& client, asio::any_io_executor executor,
                      std::string role = kCredentialsRole);

    // Protects the Secret that the object names, and releases the one that it named before. It asks the API
    // server only once per process, unless `looks_again`. Throws ApiError.
    asio::awaitable<CredentialsObstacle> protect_of_provider(kube::ObjectKey provider,
                                                             bool looks_again = false);
    asio::awaitable<CredentialsObstacle> protect_of_host(kube::ObjectKey host, bool looks_again = false);
    // Releases the Secret of an object that no longer needs one. It may be repeated. Throws ApiError.
    asio::awaitable<void> release_of_provider(kube::ObjectKey provider);
    asio::awaitable<void> release_of_host(kube::ObjectKey host);
    // Releases the Secret of an object that was deleted by force, if no other object needs it.
    asio::awaitable<void> release_after(kube::ObjectKey secret, std::string uid);

private:
    template <api::Kind T>
    asio::awaitable<CredentialsObstacle> protect(kube::Informer<T>& informer, kube::ObjectKey key,
                                                 bool looks_again);
    template <api::Kind T>
    asio::awaitable<void> release(kube::Informer<T>& informer, kube::ObjectKey key);
    asio::awaitable<CredentialsObstacle> add_finalizer(kube::ObjectKey secret);
    // `uid` belongs to the object that no longer needs it.
    asio::awaitable<void> remove_finalizer(kube::ObjectKey secret, std::string uid);
    // Returns the names of the Secrets that other objects of the namespace have recorded.
    asio::awaitable<std::set<std::string>> needed_by_others(std::string namespace_, std::string uid);

    Informers& informers_;
    kube::Client& client_;
    RightsKeeper rights_;
    base::Gate turns_;                     // one at a time in a namespace
    std::set<kube::ObjectKey> protected_;  // seen by this process with the finalizer
};

}  // namespace controllers
