// What a machine is given to become a Node: a bootstrap token and a NoCloud image, made when the backend
// asks.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/random.hpp"
#include "bootstrap/join.hpp"
#include "controllers/claim/observation.hpp"
#include "kube/client.hpp"
#include "providers/provider.hpp"

namespace controllers::claim {

// The boot data cannot be made from what the cluster and the pool say; what() tells what would be right.
class BootDataError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// What the backend may ask for while it makes the machine; what it shall not use is null.
struct BootSources {
    std::unique_ptr<providers::BootImageSource> image;
    std::unique_ptr<providers::GuestSettingsSource> guest;
    std::unique_ptr<providers::GuestJoin> join;
};

class BootData {
public:
    // All must outlive this; `random` must be fit for secrets.
    BootData(const Informers& informers, kube::Client& client, base::Clock& clock, base::Random& random);

    // The bootstrap of the pool, else of its ControlPlane, else the default (the image joins by itself).
    api::v1alpha1::Bootstrap settings(const Observation& observation) const;
    // Why machines of this pool cannot be given boot data; nullopt: they can, or need none.
    std::optional<Hold> obstacle(const Observation& observation) const;
    // True if the machine gets a boot image that has to be discarded once it has joined.
    bool uses_image(const Observation& observation) const;
    // The ID of the bootstrap token of the present attempt; empty: it needs none. Known before the token is
    // made, so that it can stand in the status.
    std::string token_id(const Observation& observation) const;
    // The network out of which the machine gets a static address; nullopt: none, or nothing would tell it.
    std::optional<api::v1alpha1::MachineNetwork> static_network(const Observation& observation) const;
    // For the present attempt. Their methods throw BootDataError.
    BootSources sources(Observation observation);
    // Deletes the token's Secret. It is no failure if it is not there.
    asio::awaitable<void> revoke(std::string token_id);

private:
    class ImageSource;
    class GuestSource;
    class Join;
    // What a join of the present attempt needs; its token is made if it is not there.
    asio::awaitable<bootstrap::JoinRequest> join_request(Observation observation, std::string host);
    asio::awaitable<bootstrap::ClusterInfo> cluster_info(std::string endpoint);
    asio::awaitable<bootstrap::Token> token(Observation observation, api::Time expiration);
    asio::awaitable<std::vector<std::string>> ssh_keys(Observation observation);
    asio::awaitable<std::string> secret_text(kube::ObjectKey secret, std::string key);

    const Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    base::Random& random_;
};

}  // namespace controllers::claim
