// What a machine is given to become a Node: a bootstrap token and cloud-init's documents, made when the
// backend or the machine asks.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "bootstrap/cloud_init.hpp"
#include "bootstrap/join.hpp"
#include "bootstrap/network_config.hpp"
#include "bootstrap/seed.hpp"
#include "controllers/claim/decide/observation.hpp"
#include "kube/client.hpp"
#include "providers/boot_sources.hpp"

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
    // All must outlive this; `random` must be fit for secrets. `advertise_url`: where machines reach what
    // this operator serves over HTTP, without a slash at the end; empty: nowhere.
    BootData(const Informers& informers, kube::Client& client, base::Clock& clock, base::Random& random,
             std::string advertise_url = {});

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
    // What the machine of the present attempt is given, without secrets. Throws BootDataError.
    asio::awaitable<api::v1alpha1::ClaimBoot> handout(Observation observation);
    // This process was asked over HTTP for the boot data that this token protects.
    void note_fetched(const std::string& token_id);
    // When it was first.
    std::optional<api::Time> fetched(const std::string& token_id) const;
    // For the present attempt. Their methods throw BootDataError.
    BootSources sources(Observation observation);
    // cloud-init's documents for the present attempt, with that token in them. Throws BootDataError.
    asio::awaitable<bootstrap::Seed> seed(Observation observation, std::string host, bootstrap::Token token);
    // nullopt: there is no such token, or it has expired.
    asio::awaitable<std::optional<bootstrap::Token>> valid_token(std::string token_id);
    // Deletes the token's Secret. It is no failure if it is not there.
    asio::awaitable<void> revoke(std::string token_id);

private:
    struct Purpose;
    class ImageSource;
    class ServedSource;
    class GuestSource;
    class Join;
    asio::awaitable<bootstrap::JoinRequest> join_request(Observation observation, std::string host,
                                                         bootstrap::Token token);
    asio::awaitable<bootstrap::GuestSettings> guest_settings(Observation observation);
    // Read anew every few seconds, however many machines join.
    asio::awaitable<bootstrap::ClusterInfo> cluster(api::v1alpha1::Bootstrap wanted);
    asio::awaitable<bootstrap::ClusterInfo> cluster_info(std::string endpoint);
    // The token of the present attempt, made if there is no valid one.
    asio::awaitable<bootstrap::Token> token(Observation observation);
    // False: there is a Secret of that name.
    asio::awaitable<bool> created(api::Secret secret);
    asio::awaitable<std::vector<std::string>> ssh_keys(Observation observation);
    asio::awaitable<std::string> secret_text(kube::ObjectKey secret, std::string key);
    asio::awaitable<std::string> secret_text_for_machines(kube::ObjectKey secret, std::string key);

    const Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    base::Random& random_;
    const std::string advertise_url_;
    struct KnownCluster {
        bootstrap::ClusterInfo info;
        base::TimePoint read;
    };
    std::map<std::pair<bool, std::string>, KnownCluster> clusters_;  // by source and endpoint
    std::map<std::string, api::Time> fetched_;                       // by token ID
};

}  // namespace controllers::claim
