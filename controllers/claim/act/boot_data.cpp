#include "controllers/claim/act/boot_data.hpp"

#include <algorithm>
#include <iterator>

#include "bootstrap/agent_script.hpp"
#include "bootstrap/approval.hpp"
#include "bootstrap/cluster_info.hpp"
#include "bootstrap/ignition.hpp"
#include "bootstrap/iso_image.hpp"
#include "bootstrap/seed_server.hpp"
#include "bootstrap/settings.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/claim/decide/boot_evidence.hpp"
#include "controllers/claim/decide/guest_wish.hpp"
#include "controllers/claim/facts/boot_rights.hpp"
#include "controllers/services/addresses.hpp"
#include "providers/boot_sources.hpp"
#include "providers/machine.hpp"

namespace controllers::claim {

using api::v1alpha1::Bootstrap;
using api::v1alpha1::BootstrapDelivery;
using api::v1alpha1::BootstrapFormat;
using api::v1alpha1::BootstrapMethod;

namespace {

// A new CA reaches the next machines soon, while a thousand simultaneous machines cause only a few reads.
constexpr base::Duration kClusterKnownFor = std::chrono::seconds{10};
// Limits the remembered fetches: a replica that does not lead never learns that a machine has joined.
constexpr std::size_t kMostRemembered = 10'000;

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

// Returns the document in the format that its reader expects.
std::string document_of(const Bootstrap& wanted, const bootstrap::UserDataSettings& guest,
                        const bootstrap::JoinPlan& plan) {
    if (!plan.document.empty()) return plan.document;
    if (wanted.userData == api::v1alpha1::BootstrapUserData::Ignition)
        return bootstrap::ignition_config(guest, plan);
    return bootstrap::user_data(guest, plan);
}

std::string_view group_of(const Bootstrap& wanted) {
    // Servers that trust every token look for the group of all bootstrap tokens only, in which each token is.
    if (bootstrap::binds_tokens(wanted) || bootstrap::trusts_every_token(wanted.format))
        return bootstrap::kTokenGroup;
    return wanted.format == BootstrapFormat::Talos ? bootstrap::kTalosGroup : bootstrap::kKubeadmGroup;
}

// Reports whether the machine sets its Node's providerID. Other Nodes get it at registration,
// or from a cloud controller manager.
bool names_itself(const Bootstrap& wanted) {
    if (wanted.format == BootstrapFormat::Custom) return true;
    return wanted.format == BootstrapFormat::Talos &&
           !(wanted.kubelet && wanted.kubelet->cloudProviderExternal);
}

asio::awaitable<bootstrap::ClusterInfo> cluster_of_root_ca(kube::Client& client, std::string endpoint) {
    const kube::ObjectKey key{"kube-public", "kube-root-ca.crt"};
    const auto found = co_await client.get<api::ConfigMap>(key);
    if (!found) throw BootDataError("there is no ConfigMap " + key.str() + ", which holds the cluster's CA");
    try {
        co_return bootstrap::cluster_info_of_root_ca(*found, endpoint);
    } catch (const std::invalid_argument& error) {
        throw BootDataError("ConfigMap " + key.str() + ": " + error.what());
    }
}

asio::awaitable<api::Secret> read_secret(kube::Client& client, kube::ObjectKey key) {
    auto found = co_await client.get<api::Secret>(key);
    if (!found) throw BootDataError("there is no Secret " + key.str());
    co_return std::move(*found);
}

std::string text_of(const api::Secret& secret, const std::string& key) {
    const auto entry = secret.data.find(key);
    if (entry == secret.data.end())
        throw BootDataError("Secret " + api::key_of(secret).str() + " has no key " + key);
    return entry->second.value;
}

asio::awaitable<void> add_version(kube::Client& client, bootstrap::ClusterInfo& info) {
    const auto version = co_await client.get_json("/version");
    if (!version) co_return;
    info.minor = bootstrap::minor_version(*version);
    info.release = bootstrap::release_version(*version);
}

}  // namespace

BootData::BootData(const Informers& informers, kube::Client& client, base::Clock& clock, base::Random& random,
                   std::string advertise_url)
    : informers_(informers),
      client_(client),
      clock_(clock),
      random_(random),
      advertise_url_(std::move(advertise_url)) {}

Bootstrap BootData::settings(const Observation& observation) const {
    if (!observation.pool) return {};
    const auto& control_planes = informers_.control_planes.store().all();
    return bootstrap_of(*observation.pool, manager_of(api::key_of(*observation.pool), control_planes));
}

std::optional<Hold> BootData::obstacle(const Observation& observation) const {
    const auto wanted = settings(observation);
    const std::string reason(reasons::kBootDataMissing);
    const auto* provider = observation.provider.get();
    if (auto problem = bootstrap::contradiction(wanted); !problem.empty()) return Hold{reason, problem};
    if (wanted.method == BootstrapMethod::GuestAgent && provider && !provider->spec.proxmox) {
        return Hold{reason, "bootstrap.method GuestAgent needs a provider of type proxmox: use None"};
    }
    const bool by_proxmox = wanted.method != BootstrapMethod::CloudInit && configures_guest(observation);
    if (by_proxmox && cloud_init_of(observation).userDataSecretRef) {
        return Hold{
            reason,
            "cloudInit.userDataSecretRef of the provider has an effect only with bootstrap.method CloudInit; "
            "with any other method put the user-data into a snippet on a storage and name it in "
            "cloudInit.custom.user"};
    }
    if (wanted.method == BootstrapMethod::CloudInit && wanted.format == BootstrapFormat::Talos &&
        cloud_init_of(observation).userDataSecretRef) {
        return Hold{
            reason,
            "bootstrap.format Talos takes the machine configuration of bootstrap.machineConfigSecretRef, so "
            "cloudInit.userDataSecretRef of the provider would have no effect: leave it out"};
    }
    if (wanted.method == BootstrapMethod::CloudInit && cloud_init_of(observation).custom) {
        return Hold{
            reason,
            "bootstrap.method CloudInit brings its own boot data, so cloudInit.custom of the provider "
            "would have no effect: leave it out, or use method None or GuestAgent"};
    }
    if (auto why = network_obstacle(observation, wanted.method)) return Hold{reason, *std::move(why)};
    const bool by_http =
        wanted.method == BootstrapMethod::CloudInit && wanted.delivery == BootstrapDelivery::HTTP;
    const auto* redfish = provider && provider->spec.redfish ? &*provider->spec.redfish : nullptr;
    const bool takes_image = redfish && redfish->boot.method == api::v1alpha1::BootMethod::VirtualMedia;
    if (wanted.method == BootstrapMethod::CloudInit && redfish && !(takes_image && by_http)) {
        return Hold{
            reason,
            "bootstrap.method CloudInit on bare metal needs bootstrap.delivery HTTP and the provider's "
            "redfish.boot.method VirtualMedia: set both, or use method None and images that join by "
            "themselves"};
    }
    if (by_http && advertise_url_.empty()) {
        return Hold{reason,
                    "bootstrap.delivery HTTP needs the operator's flags --bootstrap-bind-address and "
                    "--bootstrap-advertise-url: set them, or use ISO"};
    }
    return std::nullopt;
}

bool BootData::uses_image(const Observation& observation) const {
    const auto wanted = settings(observation);
    return wanted.method == BootstrapMethod::CloudInit && wanted.delivery == BootstrapDelivery::ISO;
}

std::string BootData::token_id(const Observation& observation) const {
    if (settings(observation).method == BootstrapMethod::None) return {};
    return bootstrap::token_id(observation.claim->metadata.uid, observation.claim->status.launchAttempts);
}

asio::awaitable<api::v1alpha1::ClaimBoot> BootData::handout(Observation observation) {
    const auto wanted = settings(observation);
    api::v1alpha1::ClaimBoot boot;
    boot.delivery = delivery_of(wanted, observation.provider.get());
    if (wanted.method == BootstrapMethod::None) co_return boot;
    const auto info = co_await cluster(wanted);
    try {
        boot.apiServer = info.endpoint();
    } catch (const std::invalid_argument& error) {
        throw BootDataError(std::string("rendering the boot data: ") + error.what());
    }
    co_return boot;
}

void BootData::note_fetched(const std::string& token_id) {
    if (fetched_.size() >= kMostRemembered) fetched_.clear();
    fetched_.try_emplace(token_id, api::Time(clock_.wall_now()));
}

std::optional<api::Time> BootData::fetched(const std::string& token_id) const {
    const auto found = fetched_.find(token_id);
    return found == fetched_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<api::v1alpha1::MachineNetwork> BootData::static_network(const Observation& observation) const {
    auto network = network_of(observation);
    const bool is_told =
        settings(observation).method == BootstrapMethod::CloudInit || configures_guest(observation);
    if (!gives_addresses(network) || !is_told) return std::nullopt;
    return network;
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

asio::awaitable<bootstrap::UserDataSettings> BootData::guest_settings(Observation observation) {
    const auto& wish = cloud_init_of(observation);
    bootstrap::UserDataSettings guest;
    guest.hostname = observation.claim->metadata.name;
    guest.user = wish.user;
    guest.upgrade_packages = wish.upgradePackages;
    guest.ssh_authorized_keys = co_await ssh_keys(observation);
    if (const auto& own = wish.userDataSecretRef) {
        const kube::ObjectKey secret{observation.claim->metadata.namespace_, own->name};
        guest.own_user_data = co_await secret_text(secret, own->key);
    }
    co_return guest;
}

asio::awaitable<bootstrap::Seed> BootData::seed(Observation observation, std::string host,
                                                bootstrap::Token token) {
    const auto request = co_await join_request(observation, std::move(host), std::move(token));
    const auto guest = co_await guest_settings(observation);
    const auto& claim = *observation.claim;
    bootstrap::NetworkRequest network;
    network.network = network_of(observation);
    network.interfaces = interfaces_of(observation);
    bootstrap::Seed seed;
    try {
        const auto plan = bootstrap::plan_join(request);
        seed.user_data = document_of(settings(observation), guest, plan);
        seed.meta_data =
            bootstrap::meta_data(claim.metadata.uid, claim.status.launchAttempts, guest.hostname);
        seed.network_config = bootstrap::network_config(network);
    } catch (const bootstrap::OwnUserDataError& error) {
        const auto& own = *cloud_init_of(observation).userDataSecretRef;
        throw BootDataError("Secret " + claim.metadata.namespace_ + "/" + own.name + ", key " + own.key +
                            ": " + error.what());
    } catch (const std::invalid_argument& error) {
        throw BootDataError(std::string("rendering the boot data: ") + error.what());
    }
    co_return seed;
}

asio::awaitable<bootstrap::JoinRequest> BootData::join_request(Observation observation, std::string host,
                                                               bootstrap::Token token) {
    const auto wanted = settings(observation);
    const auto& claim = *observation.claim;
    bootstrap::JoinRequest request;
    request.format = wanted.format;
    request.token = std::move(token);
    request.cluster = co_await cluster(wanted);
    request.node_name = claim.metadata.name;
    request.labels = node_labels(observation.origin());
    request.taints = taints_of(observation);
    request.kubelet = wanted.kubelet.value_or(api::v1alpha1::Kubelet{});
    request.host = std::move(host);
    request.version = wanted.version;
    request.pool = claim.spec.poolRef;
    request.zone = claim.status.zone;
    request.region = region_of(observation.provider.get());
    for (auto& interface : interfaces_of(observation)) {
        std::ranges::move(interface.addresses, std::back_inserter(request.addresses));
        request.mac_addresses.push_back(std::move(interface.mac_address));
    }
    std::erase(request.mac_addresses, "");
    if (names_itself(wanted)) request.provider_id = claim.status.providerID;
    const bool is_talos = wanted.format == BootstrapFormat::Talos;
    if (const auto& given = is_talos ? wanted.machineConfigSecretRef : wanted.commandSecretRef) {
        const kube::ObjectKey key{claim.metadata.namespace_, given->name};
        request.given = co_await secret_text_for_machines(key, given->key);
    }
    co_return request;
}

asio::awaitable<bootstrap::ClusterInfo> BootData::cluster(Bootstrap wanted) {
    // kubeadm alone publishes cluster-info, and only its own join reads it.
    const bool by_root_ca =
        wanted.format != api::v1alpha1::BootstrapFormat::Kubeadm && !wanted.apiServerEndpoint.empty();
    const std::pair key(by_root_ca, wanted.apiServerEndpoint);
    const auto known = clusters_.find(key);
    if (known != clusters_.end() && clock_.now() - known->second.read < kClusterKnownFor)
        co_return known->second.info;
    bootstrap::ClusterInfo info;
    if (by_root_ca)
        info = co_await cluster_of_root_ca(client_, wanted.apiServerEndpoint);
    else
        info = co_await cluster_info(wanted.apiServerEndpoint);
    co_await add_version(client_, info);
    std::erase_if(clusters_,
                  [this](const auto& entry) { return clock_.now() - entry.second.read >= kClusterKnownFor; });
    clusters_[key] = {info, clock_.now()};
    co_return info;
}

asio::awaitable<bootstrap::ClusterInfo> BootData::cluster_info(std::string endpoint) {
    const kube::ObjectKey key{"kube-public", "cluster-info"};
    const auto found = co_await client_.get<api::ConfigMap>(key);
    if (!found) {
        throw BootDataError(
            "there is no ConfigMap kube-public/cluster-info, which kubeadm creates: it names the API server "
            "and its CA for joining machines; in other clusters set bootstrap.apiServerEndpoint and a format "
            "other than Kubeadm");
    }
    try {
        auto info = bootstrap::parse_cluster_info(*found);
        co_return bootstrap::with_endpoint(std::move(info), endpoint);
    } catch (const std::invalid_argument& error) {
        throw BootDataError(std::string("ConfigMap kube-public/cluster-info: ") + error.what());
    }
}

// Creates the token. A token that exists already comes from a crash; an expired one is replaced.
asio::awaitable<bootstrap::Token> BootData::token(Observation observation) {
    const auto& claim = *observation.claim;
    const auto token = bootstrap::make_token(claim.metadata.uid, claim.status.launchAttempts, random_);
    const bootstrap::TokenOwner owner{claim.metadata.namespace_, claim.metadata.name, claim.metadata.uid};
    const auto wanted = settings(observation);
    // The clock of the API server and its controllers decides when a token ends.
    // Objects that were stored before the limit may state a longer life.
    const auto life = std::min<api::Duration>(wanted.tokenTTL, bootstrap::kLongestTokenLife);
    const auto expiration = later(api::Time(clock_.readers_now()), life);
    const auto secret = bootstrap::token_secret(token, owner, group_of(wanted), expiration);
    const bool is_new = co_await created(secret);
    if (is_new) co_return token;
    const auto id = bootstrap::token_id(claim.metadata.uid, claim.status.launchAttempts);
    auto found = co_await valid_token(id);
    if (found) co_return *std::move(found);
    co_await client_.remove<api::Secret>(api::key_of(secret));
    co_await client_.create<api::Secret>(secret);
    co_return token;
}

asio::awaitable<bool> BootData::created(api::Secret secret) {
    try {
        co_await client_.create<api::Secret>(std::move(secret));
        co_return true;
    } catch (const kube::ApiError& error) {
        if (!error.is_already_exists()) throw;
    }
    co_return false;
}

asio::awaitable<std::optional<bootstrap::Token>> BootData::valid_token(std::string token_id) {
    const kube::ObjectKey key{std::string(bootstrap::kTokenNamespace),
                              bootstrap::token_secret_name(token_id)};
    const auto found = co_await client_.get<api::Secret>(key);
    if (!found || bootstrap::token_expired(*found, api::Time(clock_.readers_now()))) co_return std::nullopt;
    co_return bootstrap::token_of(*found);
}

asio::awaitable<std::string> BootData::secret_text(kube::ObjectKey secret, std::string key) {
    const auto found = co_await read_secret(client_, secret);
    co_return text_of(found, key);
}

// Reads a Secret that its owner has labelled for machines. Anyone who may write pools can name a Secret
// without being allowed to read it. Such a person's machine would reveal the content.
asio::awaitable<std::string> BootData::secret_text_for_machines(kube::ObjectKey secret, std::string key) {
    const auto found = co_await read_secret(client_, secret);
    const std::string label(api::labels::kBootData);
    const auto* value = api::find(found.metadata.labels, label);
    if (!value || *value != "true")
        throw BootDataError(
            "Secret " + secret.str() + " has no label " + label +
            "=true, which allows pools to hand the Secret to machines; to set it: kubectl label secret " +
            secret.name + " -n " + secret.namespace_ + " " + label + "=true");
    co_return text_of(found, key);
}

namespace {

// Reports whether the ID follows from the claim. A status proves nothing, and others have tokens, too.
bool is_token_of(const NodeSmithClaim& claim, const std::string& token_id) {
    constexpr std::int32_t kMostTokens = 100;  // the recorded number may be arbitrary
    const auto attempts = std::min(claim.status.launchAttempts, kMostTokens);
    for (std::int32_t attempt = 0; attempt <= attempts; ++attempt)
        if (bootstrap::token_id(claim.metadata.uid, attempt) == token_id) return true;
    return false;
}

}  // namespace

asio::awaitable<void> BootData::revoke(ClaimPointer claim) {
    const auto& token_id = claim->status.bootstrapTokenID;
    fetched_.erase(token_id);
    if (!is_token_of(*claim, token_id)) co_return;
    const kube::ObjectKey key{std::string(bootstrap::kTokenNamespace),
                              bootstrap::token_secret_name(token_id)};
    co_await client_.remove<api::Secret>(key);
}

// ---- what a backend may request while it creates a machine

// Purpose holds what every source is created for.
struct BootData::Purpose {
    BootData& owner;
    Observation observation;
};

class BootData::ImageSource final : public providers::BootImageSource, Purpose {
public:
    explicit ImageSource(Purpose purpose) : Purpose(std::move(purpose)) {}
    asio::awaitable<std::string> iso_image(providers::MachineRecord placed) override {
        const auto token = co_await owner.token(observation);
        const auto seed = co_await owner.seed(observation, placed.host, token);
        co_return bootstrap::nocloud_image(seed);
    }
};

// ServedSource serves the same documents from this operator's own server.
class BootData::ServedSource final : public providers::ServedBootData, Purpose {
public:
    explicit ServedSource(const Purpose& purpose) : Purpose(purpose), image_(purpose) {}

    asio::awaitable<std::string> iso_image(providers::MachineRecord placed) override {
        return image_.iso_image(std::move(placed));
    }
    // Renders the documents now, so that an error is reported before the machine asks for them.
    asio::awaitable<std::string> url(providers::MachineRecord placed) override {
        const auto token = co_await owner.token(observation);
        co_await owner.seed(observation, placed.host, token);
        co_return owner.advertise_url_ + "/" + bootstrap::seed_key(token) + "/";
    }

private:
    ImageSource image_;
};

namespace {

std::vector<providers::GuestInterface> guest_interfaces(const api::v1alpha1::MachineNetwork& network,
                                                        const std::vector<bootstrap::KnownInterface>& known) {
    std::vector<providers::GuestInterface> interfaces;
    for (const auto& one : bootstrap::by_interface(network)) {
        providers::GuestInterface interface{one.interface, false, {}};
        for (const auto& subnet : bootstrap::subnets_of(one, known)) {
            if (subnet.address.empty())
                interface.dhcp = true;
            else
                interface.addresses.push_back({subnet.address, subnet.gateway});
        }
        interfaces.push_back(std::move(interface));
    }
    return interfaces;
}

}  // namespace

// GuestSource provides settings for the hypervisor's own mechanism.
class BootData::GuestSource final : public providers::GuestSettingsSource, Purpose {
public:
    explicit GuestSource(Purpose purpose) : Purpose(std::move(purpose)) {}
    asio::awaitable<providers::GuestSettings> guest_settings() override {
        const auto network = network_of(observation);
        providers::GuestSettings guest;
        guest.user = cloud_init_of(observation).user;
        guest.upgrade_packages = cloud_init_of(observation).upgradePackages;
        guest.ssh_authorized_keys = co_await owner.ssh_keys(observation);
        guest.interfaces = guest_interfaces(network, interfaces_of(observation));
        guest.nameservers = network.nameservers;
        guest.search_domains = network.searchDomains;
        co_return guest;
    }
};

// Joins the machine through the guest agent.
class BootData::Join final : public providers::GuestJoin, Purpose {
public:
    explicit Join(Purpose purpose) : Purpose(std::move(purpose)) {
        const auto wanted = owner.settings(observation);
        ready_command = wanted.readyCommand;
        accept_degraded = wanted.acceptDegraded;
        exec_timeout = wanted.execTimeout.value;
    }

    asio::awaitable<providers::JoinScript> script(providers::MachineRecord placed) override {
        const auto token = co_await owner.token(observation);
        const auto request = co_await owner.join_request(observation, placed.host, token);
        providers::JoinScript result;
        try {
            result.script =
                bootstrap::agent_script(bootstrap::plan_join(request), observation.claim->status.systemUUID);
        } catch (const std::invalid_argument& error) {
            throw BootDataError(std::string("rendering the join script: ") + error.what());
        }
        result.secrets = {token.text(), token.secret};
        co_return result;
    }
};

BootSources BootData::sources(Observation observation) {
    BootSources sources;
    const auto wanted = settings(observation);
    const Purpose purpose{*this, std::move(observation)};
    if (wanted.method == BootstrapMethod::GuestAgent) sources.join = std::make_unique<Join>(purpose);
    if (wanted.method == BootstrapMethod::CloudInit && wanted.delivery == BootstrapDelivery::HTTP) {
        sources.image = std::make_unique<ServedSource>(purpose);
    } else if (wanted.method == BootstrapMethod::CloudInit) {
        sources.image = std::make_unique<ImageSource>(purpose);
    } else if (configures_guest(purpose.observation)) {
        sources.guest = std::make_unique<GuestSource>(purpose);
    }
    return sources;
}

}  // namespace controllers::claim
