#include "controllers/claim/boot_data.hpp"

#include "bootstrap/cloud_init.hpp"
#include "bootstrap/cluster_info.hpp"
#include "bootstrap/iso_image.hpp"
#include "bootstrap/join.hpp"
#include "controllers/membership.hpp"

namespace controllers::claim {

using api::v1alpha1::Bootstrap;
using api::v1alpha1::BootstrapDelivery;
using api::v1alpha1::BootstrapMethod;

namespace {

const api::v1alpha1::CloudInit& cloud_init(const Observation& observation) {
    static const api::v1alpha1::CloudInit kDefaults;
    const auto* provider = observation.provider.get();
    const bool given = provider && provider->spec.proxmox && provider->spec.proxmox->cloudInit;
    return given ? *provider->spec.proxmox->cloudInit : kDefaults;
}

api::v1alpha1::MachineNetwork network_of(const Observation& observation) {
    if (observation.pool && observation.pool->spec.machineTemplate.network) {
        return *observation.pool->spec.machineTemplate.network;
    }
    return cloud_init(observation).network;
}

// The static address that the pool has reserved for the claim.
std::string address_of(const Observation& observation) {
    if (!observation.pool) return {};
    for (const auto& reservation : observation.pool->status.addresses) {
        if (reservation.claim == observation.claim->metadata.name) return reservation.address;
    }
    return {};
}

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

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        auto end = std::min(text.find('\n', at), text.size());
        if (end > at) lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

}  // namespace

// Renders one attempt's image. What the API server has to be asked for is asked for when the backend asks.
class BootData::Source final : public providers::BootImageSource {
public:
    Source(BootData& owner, Observation observation)
        : owner_(owner), observation_(std::move(observation)), settings_(owner.settings(observation_)) {}

    asio::awaitable<std::string> iso_image(providers::MachineRecord placed) override {
        auto request = co_await join_request(std::move(placed));
        auto guest = co_await guest_settings();
        try {
            co_return render(request, guest);
        } catch (const std::invalid_argument& error) {
            throw BootDataError(std::string("rendering the boot data: ") + error.what());
        }
    }

private:
    asio::awaitable<bootstrap::JoinRequest> join_request(providers::MachineRecord placed) {
        const api::Time now(owner_.clock_.wall_now());
        bootstrap::JoinRequest request;
        request.format = settings_.format;
        request.token = co_await owner_.token(observation_, later(now, settings_.tokenTTL));
        request.cluster = co_await cluster_info();
        request.node_name = observation_.claim->metadata.name;
        request.labels = node_labels(observation_.origin());
        request.taints = taints_of(observation_);
        request.host = placed.host;
        if (const auto& command = settings_.commandSecretRef) {
            const kube::ObjectKey key{observation_.claim->metadata.namespace_, command->name};
            request.custom_command = co_await owner_.secret_text(key, command->key);
        }
        co_return request;
    }

    asio::awaitable<bootstrap::ClusterInfo> cluster_info() {
        const kube::ObjectKey key{"kube-public", "cluster-info"};
        const auto found = co_await owner_.client_.get<api::ConfigMap>(key);
        if (!found) {
            throw BootDataError(
                "there is no ConfigMap kube-public/cluster-info, which kubeadm makes: it names the "
                "API server and its CA for joining machines");
        }
        try {
            auto info = bootstrap::parse_cluster_info(*found);
            co_return bootstrap::with_endpoint(std::move(info), settings_.apiServerEndpoint);
        } catch (const std::invalid_argument& error) {
            throw BootDataError(std::string("ConfigMap kube-public/cluster-info: ") + error.what());
        }
    }

    asio::awaitable<bootstrap::GuestSettings> guest_settings() {
        const auto& wish = cloud_init(observation_);
        const auto& namespace_ = observation_.claim->metadata.namespace_;
        bootstrap::GuestSettings guest;
        guest.hostname = observation_.claim->metadata.name;
        guest.user = wish.user;
        guest.ssh_authorized_keys = wish.sshAuthorizedKeys;
        guest.upgrade_packages = wish.upgradePackages;
        if (const auto& keys = wish.sshAuthorizedKeysSecretRef) {
            const kube::ObjectKey secret{namespace_, keys->name};
            const auto text = co_await owner_.secret_text(secret, keys->key);
            append(guest.ssh_authorized_keys, lines_of(text));
        }
        if (const auto& own = wish.userDataSecretRef) {
            const kube::ObjectKey secret{namespace_, own->name};
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
    Bootstrap settings_;
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
    if (wanted.method == BootstrapMethod::GuestAgent) {
        return Hold{reason,
                    "bootstrap.method GuestAgent is not available for this provider: use CloudInit or None"};
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

std::string BootData::token_id(const Observation& observation) const {
    if (settings(observation).method != BootstrapMethod::CloudInit) return {};
    return bootstrap::token_id(observation.claim->metadata.uid, observation.claim->status.launchAttempts);
}

std::unique_ptr<providers::BootImageSource> BootData::source(Observation observation) {
    if (settings(observation).method != BootstrapMethod::CloudInit) return nullptr;
    return std::make_unique<Source>(*this, std::move(observation));
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
