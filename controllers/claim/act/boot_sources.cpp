// Provides what a backend may request while it creates a machine. The API server is queried only then.
#include "providers/boot_sources.hpp"
#include "bootstrap/agent_script.hpp"
#include "bootstrap/iso_image.hpp"
#include "bootstrap/seed_server.hpp"
#include "controllers/claim/act/boot_data.hpp"
#include "controllers/claim/decide/guest_wish.hpp"
#include "providers/machine.hpp"

namespace controllers::claim {

using api::v1alpha1::BootstrapDelivery;
using api::v1alpha1::BootstrapMethod;

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
