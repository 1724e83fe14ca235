#include "controllers/claim/boot_data.hpp"

#include "bootstrap/agent_script.hpp"
#include "bootstrap/cloud_init.hpp"
#include "bootstrap/cluster_info.hpp"
#include "bootstrap/iso_image.hpp"
#include "bootstrap/join.hpp"
#include "controllers/claim/guest_wish.hpp"
#include "controllers/membership.hpp"

namespace controllers::claim {

using api::v1alpha1::Bootstrap;
using api::v1alpha1::BootstrapDelivery;
using api::v1alpha1::BootstrapMethod;

namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

std::vector<api::Taint> taints_of(const Observation& observation) {
    auto taints = observation.claim->spec.taints;
    auto startup = observation.claim->spec.startupTaints;
    if (observation.pool) {
        append(taints, observation.pool->spec.machineTemplate.taints);
        append(startup, observation.pool->spec.machineTemplate.startupTaints);
    }
    return bootstrap::registration_taints(taints, startup);
}

}  // namespace

// Renders one attempt's image. What the API server has to be asked for is asked for when the backend asks.
class BootData::ImageSource final : public providers::BootImageSource {
public:
    ImageSource(BootData& owner, Observation observation)
        : owner_(owner), observation_(std::move(observation)) {}

    asio::awaitable<std::string> iso_image(providers::MachineRecord placed) override {
        auto request = co_await owner_.join_request(observation_, placed.host);
        auto guest = co_await guest_settings();
        try {
            co_return render(request, guest);
        } catch (const std::invalid_argument& error) {
            throw BootDataError(std::string("rendering the boot data: ") + error.what());
        }
    }

private:
    asio::awaitable<bootstrap::GuestSettings> guest_settings() {
        const auto& wish = cloud_init_of(observation_);
        bootstrap::GuestSettings guest;
        guest.hostname = observation_.claim->metadata.name;
        guest.user = wish.user;
        guest.upgrade_packages = wish.upgradePackages;
        guest.ssh_authorized_keys = co_await owner_.ssh_keys(observation_);
        if (const auto& own = wish.userDataSecretRef) {
            const kube::ObjectKey secret{observation_.claim->metadata.namespace_, own->name};
            guest.own_user_data = co_await owner_.secret_text(secret, own->key);
        }
        co_return guest;
    }

    std::string render(const bootstrap::JoinRequest& request, const bootstrap::GuestSettings& guest) const {
        const auto& claim = *observation_.claim;
        bootstrap::NetworkRequest network;
        network.network = network_of(observation_);
        network.address = address_of(observation_);
        bootstrap::Seed seed;
        seed.user_data = bootstrap::user_data(guest, bootstrap::plan_join(request));
        seed.meta_data =
            bootstrap::meta_data(claim.metadata.uid, claim.status.launchAttempts, guest.hostname);
        seed.network_config = bootstrap::network_config(network);
        return bootstrap::nocloud_image(seed);
    }

    BootData& owner_;
    Observation observation_;
};

// Settings for the hypervisor's own means.
class BootData::GuestSource final : public providers::GuestSettingsSource {
public:
    GuestSource(BootData& owner, Observation observation)
        : owner_(owner), observation_(std::move(observation)) {}

    asio::awaitable<providers::GuestSettings> guest_settings() override {
        const auto network = network_of(observation_);
        const auto address = address_of(observation_);
        providers::GuestSettings guest;
        guest.user = cloud_init_of(observation_).user;
        guest.upgrade_packages = cloud_init_of(observation_).upgradePackages;
        guest.ssh_authorized_keys = co_await owner_.ssh_keys(observation_);
        if (!address.empty()) {
            guest.address = address + "/" + std::to_string(network.prefixLength);
            guest.gateway = network.gateway;
        }
        guest.nameservers = network.nameservers;
        guest.search_domains = network.searchDomains;
        co_return guest;
    }

private:
    BootData& owner_;
    Observation observation_;
};

// The same by way of the guest agent.
class BootData::Join final : public providers::GuestJoin {
public:
    Join(BootData& owner, Observation observation) : owner_(owner), observation_(std::move(observation)) {
        const auto wanted = owner.settings(observation_);
        ready_command = wanted.readyCommand;
        accept_degraded = wanted.acceptDegraded;
        exec_timeout = wanted.execTimeout.value;
    }

    asio::awaitable<providers::JoinScript> script(providers::MachineRecord placed) override {
        const auto request = co_await owner_.join_request(observation_, placed.host);
        providers::JoinScript result;
        try {
            result.script =
                bootstrap::agent_script(bootstrap::plan_join(request), observation_.claim->status.systemUUID);
        } catch (const std::invalid_argument& error) {
            throw BootDataError(std::string("rendering the join script: ") + error.what());
        }
        result.secrets = {request.token.text(), request.token.secret};
        co_return result;
    }

private:
    BootData& owner_;
    Observation observation_;
};

BootData::BootData(const Informers& informers, kube::Client& client, base::Clock& clock, base::Random& random)
    : informers_(informers), client_(client), clock_(clock), random_(random) {}

Bootstrap BootData::settings(const Observation& observation) const {
    if (!observation.pool) return {};
    if (observation.pool->spec.bootstrap) return *observation.pool->spec.bootstrap;
    const auto* manager = manager_of(api::key_of(*observation.pool), informers_.control_planes.store().all());
    return manager ? manager->spec.bootstrap.value_or(Bootstrap{}) : Bootstrap{};
}

std::optional<Hold> BootData::obstacle(const Observation& observation) const {
    const auto wanted = settings(observation);
    const std::string reason(reasons::kBootDataMissing);
    const auto* provider = observation.provider.get();
    if (wanted.method == BootstrapMethod::GuestAgent && provider && !provider->spec.proxmox) {
        return Hold{reason, "bootstrap.method GuestAgent needs a provider of type proxmox: use None"};
    }
    const bool by_proxmox = wanted.method != BootstrapMethod::CloudInit && configures_guest(observation);
    if (by_proxmox && cloud_init_of(observation).userDataSecretRef) {
        return Hold{
            reason,
            "cloudInit.userDataSecretRef of the provider needs bootstrap.method CloudInit: Proxmox' own "
            "cloud-init takes user-data only from a snippet that you placed (cloudInit.custom.user)"};
    }
    if (wanted.method == BootstrapMethod::CloudInit && cloud_init_of(observation).custom) {
        return Hold{
            reason,
            "bootstrap.method CloudInit brings its own boot data, so cloudInit.custom of the provider "
            "would have no effect: leave it out, or use method None or GuestAgent"};
    }
    const bool is_bare_metal = observation.provider && observation.provider->spec.redfish;
    if (wanted.method == BootstrapMethod::CloudInit && is_bare_metal) {
        return Hold{
            reason,
            "bootstrap.method CloudInit is not available for bare metal: use None and images that join "
            "by themselves"};
    }
    if (wanted.method == BootstrapMethod::CloudInit && wanted.delivery == BootstrapDelivery::HTTP) {
        return Hold{reason, "bootstrap.delivery HTTP is not available: use ISO"};
    }
    return std::nullopt;
}

bool BootData::uses_image(const Observation& observation) const {
    return settings(observation).method == BootstrapMethod::CloudInit;
}

std::string BootData::token_id(const Observation& observation) const {
    if (settings(observation).method == BootstrapMethod::None) return {};
    return bootstrap::token_id(observation.claim->metadata.uid, observation.claim->status.launchAttempts);
}

std::optional<api::v1alpha1::MachineNetwork> BootData::static_network(const Observation& observation) const {
    auto network = network_of(observation);
    const bool is_told =
        settings(observation).method == BootstrapMethod::CloudInit || configures_guest(observation);
    if (network.mode != api::v1alpha1::NetworkMode::Static || !is_told) return std::nullopt;
    return network;
}

BootSources BootData::sources(Observation observation) {
    BootSources sources;
    const auto method = settings(observation).method;
    if (method == BootstrapMethod::GuestAgent) sources.join = std::make_unique<Join>(*this, observation);
    if (method == BootstrapMethod::CloudInit) {
        sources.image = std::make_unique<ImageSource>(*this, std::move(observation));
    } else if (configures_guest(observation)) {
        sources.guest = std::make_unique<GuestSource>(*this, std::move(observation));
    }
    return sources;
}

asio::awaitable<std::vector<std::string>> BootData::ssh_keys(Observation observation) {
    const auto& wish = cloud_init_of(observation);
    auto keys = wish.sshAuthorizedKeys;
    if (const auto& more = wish.sshAuthorizedKeysSecretRef) {
        const kube::ObjectKey secret{observation.claim->metadata.namespace_, more->name};
        const auto text = co_await secret_text(secret, more->key);
        append(keys, lines_of(text));
    }
    co_return keys;
}

asio::awaitable<bootstrap::JoinRequest> BootData::join_request(Observation observation, std::string host) {
    const auto wanted = settings(observation);
    const auto& claim = *observation.claim;
    bootstrap::JoinRequest request;
    request.format = wanted.format;
    request.token = co_await token(observation, later(api::Time(clock_.wall_now()), wanted.tokenTTL));
    request.cluster = co_await cluster_info(wanted.apiServerEndpoint);
    request.node_name = claim.metadata.name;
    request.labels = node_labels(observation.origin());
    request.taints = taints_of(observation);
    request.host = std::move(host);
    if (const auto& command = wanted.commandSecretRef) {
        const kube::ObjectKey key{claim.metadata.namespace_, command->name};
        request.custom_command = co_await secret_text(key, command->key);
    }
    co_return request;
}

asio::awaitable<bootstrap::ClusterInfo> BootData::cluster_info(std::string endpoint) {
    const kube::ObjectKey key{"kube-public", "cluster-info"};
    const auto found = co_await client_.get<api::ConfigMap>(key);
    if (!found) {
        throw BootDataError(
            "there is no ConfigMap kube-public/cluster-info, which kubeadm makes: it names the "
            "API server and its CA for joining machines");
    }
    try {
        auto info = bootstrap::parse_cluster_info(*found);
        co_return bootstrap::with_endpoint(std::move(info), endpoint);
    } catch (const std::invalid_argument& error) {
        throw BootDataError(std::string("ConfigMap kube-public/cluster-info: ") + error.what());
    }
}

// The Secret of the attempt, made if it is not there; one that has expired is replaced.
asio::awaitable<bootstrap::Token> BootData::token(Observation observation, api::Time expiration) {
    const auto& claim = *observation.claim;
    const auto id = bootstrap::token_id(claim.metadata.uid, claim.status.launchAttempts);
    const kube::ObjectKey key{std::string(bootstrap::kTokenNamespace), bootstrap::token_secret_name(id)};
    const auto found = co_await client_.get<api::Secret>(key);
    if (found && !bootstrap::token_expired(*found, api::Time(clock_.wall_now()))) {
        co_return bootstrap::token_of(*found);
    }
    if (found) co_await client_.remove<api::Secret>(key);
    const auto token = bootstrap::make_token(claim.metadata.uid, claim.status.launchAttempts, random_);
    const bootstrap::TokenOwner owner{claim.metadata.namespace_, claim.metadata.name, claim.metadata.uid};
    co_await client_.create<api::Secret>(bootstrap::token_secret(token, owner, expiration));
    co_return token;
}

asio::awaitable<std::string> BootData::secret_text(kube::ObjectKey secret, std::string key) {
    const auto found = co_await client_.get<api::Secret>(secret);
    if (!found) throw BootDataError("there is no Secret " + secret.str());
    const auto entry = found->data.find(key);
    if (entry == found->data.end()) throw BootDataError("Secret " + secret.str() + " has no key " + key);
    co_return entry->second.value;
}

asio::awaitable<void> BootData::revoke(std::string token_id) {
    const kube::ObjectKey key{std::string(bootstrap::kTokenNamespace),
                              bootstrap::token_secret_name(token_id)};
    co_await client_.remove<api::Secret>(key);
}

}  // namespace controllers::claim
