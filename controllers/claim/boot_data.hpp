// What a machine is given to become a Node: a bootstrap token and a NoCloud image, made when the backend
// asks.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/random.hpp"
#include "bootstrap/token.hpp"
#include "controllers/claim/observation.hpp"
#include "kube/client.hpp"
#include "providers/provider.hpp"

namespace controllers::claim {

// The boot data cannot be made from what the cluster and the pool say; what() tells what would be right.
class BootDataError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class BootData {
public:
    // All must outlive this; `random` must be fit for secrets.
    BootData(const Informers& informers, kube::Client& client, base::Clock& clock, base::Random& random);

    // The bootstrap of the pool, else of its ControlPlane, else the default (the image joins by itself).
    api::v1alpha1::Bootstrap settings(const Observation& observation) const;
    // Why machines of this pool cannot be given boot data; nullopt: they can, or need none.
    std::optional<Hold> obstacle(const Observation& observation) const;
    // The ID of the bootstrap token of the present attempt; empty: it needs none. Known before the token is
    // made, so that it can stand in the status.
    std::string token_id(const Observation& observation) const;
    // Makes the boot image of the present attempt; null: none is needed. Its iso_image throws BootDataError.
    std::unique_ptr<providers::BootImageSource> source(Observation observation);
    // Deletes the token's Secret. It is no failure if it is not there.
    asio::awaitable<void> revoke(std::string token_id);

private:
    class Source;
    asio::awaitable<bootstrap::Token> token(Observation observation, api::Time expiration);
    asio::awaitable<std::string> secret_text(kube::ObjectKey secret, std::string key);

    const Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    base::Random& random_;
};

}  // namespace controllers::claim
