// CredentialsKeeper puts our finalizer on the Secrets of providers and hosts while machines need them. So a
// machine can be removed whatever is deleted first. The object that needs a Secret records its name
// (status.protectedSecret) before the finalizer is added. It forgets the name after the removal. Several
// objects may share a Secret: the last one removes the finalizer.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/gate.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/services/rights_keeper.hpp"

namespace controllers {

// CredentialsObstacle says why a Secret lacks the finalizer or keeps it, or that it is being
// deleted; empty reason: no obstacle.
struct CredentialsObstacle {
    std::string reason;   // SecretMissing, SecretForbidden, Deleting, RequestRefused
    std::string message;  // remedy for a person
};

class CredentialsKeeper {
public:
    // `informers`, `client` and `clock` must outlive this object. `role`: see RightsKeeper.
    CredentialsKeeper(Informers& informers, kube::Client& client, const base::Clock& clock,
                      asio::any_io_executor executor, std::string role = kCredentialsRole);

    // Protects the Secret that the object names, and releases the one that it named before. It asks the API
    // server only once per process, unless `looks_again`. A refusal is the obstacle. Other failures throw
    // ApiError.
    asio::awaitable<CredentialsObstacle> protect_of_provider(kube::ObjectKey provider,
                                                             bool looks_again = false);
    asio::awaitable<CredentialsObstacle> protect_of_host(kube::ObjectKey host, bool looks_again = false);
    // Releases the Secret of an object that no longer needs one. It may be repeated. A refusal is the
    // obstacle: the object still needs to be kept. Other failures throw ApiError.
    asio::awaitable<CredentialsObstacle> release_of_provider(kube::ObjectKey provider);
    asio::awaitable<CredentialsObstacle> release_of_host(kube::ObjectKey host);
    // Releases the Secret of an object that was deleted by force, if no other object needs it. Throws
    // ApiError.
    asio::awaitable<void> release_after(kube::ObjectKey secret, std::string uid);

private:
    template <api::Kind T>
    asio::awaitable<CredentialsObstacle> protect(kube::Informer<T>& informer, kube::ObjectKey key,
                                                 bool looks_again);
    template <api::Kind T>
    asio::awaitable<CredentialsObstacle> release(kube::Informer<T>& informer, kube::ObjectKey key);
    asio::awaitable<CredentialsObstacle> add_finalizer(kube::ObjectKey secret);
    asio::awaitable<CredentialsObstacle> try_to_release(kube::ObjectKey secret, std::string uid);
    // Returns the last refusal to protect the Secret while it is recent; empty reason: none.
    CredentialsObstacle recent_refusal(const kube::ObjectKey& secret) const;
    // `uid` belongs to the object that no longer needs it.
    asio::awaitable<void> remove_finalizer(kube::ObjectKey secret, std::string uid);
    // Returns the names of the Secrets that other objects of the namespace have recorded.
    asio::awaitable<std::set<std::string>> needed_by_others(std::string namespace_, std::string uid);

    Informers& informers_;
    kube::Client& client_;
    const base::Clock& clock_;
    RightsKeeper rights_;
    base::Gate turns_;                     // one at a time in a namespace
    std::set<kube::ObjectKey> protected_;  // seen by this process with the finalizer
    struct Refusal {
        CredentialsObstacle obstacle;
        base::TimePoint pause_ends{};
    };
    std::map<kube::ObjectKey, Refusal> refusals_;  // to protect these Secrets
};

}  // namespace controllers
