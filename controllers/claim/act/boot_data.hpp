// Provides what a machine needs to become a Node: a bootstrap token and cloud-init documents. They are
// created when the backend or the machine requests them.
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

// BootDataError reports that the cluster's and the pool's settings yield no boot
// data; what() explains the remedy.
class BootDataError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// BootSources holds what the backend may request while it creates the machine. A
// source that it must not use is null.
struct BootSources {
    std::unique_ptr<providers::BootImageSource> image;
    std::unique_ptr<providers::GuestSettingsSource> guest;
    std::unique_ptr<providers::GuestJoin> join;
};

class BootData {
public:
    // All arguments must outlive this object; `random` must be fit for secrets. Machines reach this
    // operator's HTTP server at `advertise_url`, without a slash at the end; empty: nowhere.
    BootData(const Informers& informers, kube::Client& client, base::Clock& clock, base::Random& random,
             std::string advertise_url = {});

    // Returns the bootstrap of the pool, otherwise of its ControlPlane, otherwise the
    // default (the image joins by itself).
    api::v1alpha1::Bootstrap settings(const Observation& observation) const;
    // Returns why machines of this pool cannot get boot data; nullopt: they can, or need none.
    std::optional<Hold> obstacle(const Observation& observation) const;
    // Reports whether the machine gets a boot image that must be discarded after it has joined.
    bool uses_image(const Observation& observation) const;
    // Returns the ID of the present attempt's bootstrap token; empty: it needs none. The ID is known before
    // the token exists, so that the status can record it.
    std::string token_id(const Observation& observation) const;
    // Returns the network that gives the machine a static address; nullopt: none,
    // or no boot data would carry it.
    std::optional<api::v1alpha1::MachineNetwork> static_network(const Observation& observation) const;
    // Returns what the machine of the present attempt gets, without secrets. Throws BootDataError.
    asio::awaitable<api::v1alpha1::ClaimBoot> handout(Observation observation);
    // Records that the boot data protected by this token was fetched from this process over HTTP.
    void note_fetched(const std::string& token_id);
    // Returns the time of the first fetch.
    std::optional<api::Time> fetched(const std::string& token_id) const;
    // Returns the sources for the present attempt. Their methods throw BootDataError.
    BootSources sources(Observation observation);
    // Returns the cloud-init documents for the present attempt, including that token. Throws BootDataError.
    asio::awaitable<bootstrap::Seed> seed(Observation observation, std::string host, bootstrap::Token token);
    // Returns nullopt if there is no such token or it has expired.
    asio::awaitable<std::optional<bootstrap::Token>> valid_token(std::string token_id);
    // Deletes the Secret of the token that the claim's status names, if it is a token of this claim. A
    // missing Secret is no failure.
    asio::awaitable<void> revoke(ClaimPointer claim);

private:
    struct Purpose;
    class ImageSource;
    class ServedSource;
    class GuestSource;
    class Join;
    asio::awaitable<bootstrap::JoinRequest> join_request(Observation observation, std::string host,
                                                         bootstrap::Token token);
    asio::awaitable<bootstrap::UserDataSettings> guest_settings(Observation observation);
    // Reads the cluster's data at most once every few seconds, however many machines join.
    asio::awaitable<bootstrap::ClusterInfo> cluster(api::v1alpha1::Bootstrap wanted);
    asio::awaitable<bootstrap::ClusterInfo> cluster_info(std::string endpoint);
    // Returns the token of the present attempt, and creates one if no valid one exists.
    asio::awaitable<bootstrap::Token> token(Observation observation);
    // Returns false if a Secret with that name exists.
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
