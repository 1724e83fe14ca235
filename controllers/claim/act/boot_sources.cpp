// What a backend may ask for while it makes a machine. What the API server has to be asked for is asked for
// then.
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

class BootData::ImageSource final : public providers::BootImageSource {
public:
    ImageSource(BootData& owner, Observation observation)
        : owner_(owner), observation_(std::move(observation)) {}

    asio::awaitable<std::string> iso_image(providers::MachineRecord placed) override {
        const auto token = co_await owner_.token(observation_);
        const auto seed = co_await owner_.seed(observation_, placed.host, token);
        co_return bootstrap::nocloud_image(seed);
    }

private:
    BootData& owner_;
    Observation observation_;
};

// The same, from this operator's own server.
class BootData::ServedSource final : public providers::ServedBootData {
public:
    ServedSource(BootData& owner, Observation observation)
        : owner_(owner), observation_(observation), image_(owner, std::move(observation)) {}

    asio::awaitable<std::string> iso_image(providers::MachineRecord placed) override {
        return image_.iso_image(std::move(placed));
    }
    // What cannot be rendered is told now, not when the machine asks in vain.
    asio::awaitable<std::string> url(providers::MachineRecord placed) override {
        const auto token = co_await owner_.token(observation_);
        co_await owner_.seed(observation_, placed.host, token);
        co_return owner_.advertise_url_ + "/" + bootstrap::seed_key(token) + "/";
    }

private:
    BootData& owner_;
    Observation observation_;
    ImageSource image_;
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

// The join by way of the guest agent.
class BootData::Join final : public providers::GuestJoin {
public:
    Join(BootData& owner, Observation observation) : owner_(owner), observation_(std::move(observation)) {
        const auto wanted = owner.settings(observation_);
        ready_command = wanted.readyCommand;
        accept_degraded = wanted.acceptDegraded;
        exec_timeout = wanted.execTimeout.value;
    }

    asio::awaitable<providers::JoinScript> script(providers::MachineRecord placed) override {
        const auto token = co_await owner_.token(observation_);
        const auto request = co_await owner_.join_request(observation_, placed.host, token);
        providers::JoinScript result;
        try {
            result.script =
                bootstrap::agent_script(bootstrap::plan_join(request), observation_.claim->status.systemUUID);
        } catch (const std::invalid_argument& error) {
            throw BootDataError(std::string("rendering the join script: ") + error.what());
        }
        result.secrets = {token.text(), token.secret};
        co_return result;
    }

private:
    BootData& owner_;
    Observation observation_;
};

BootSources BootData::sources(Observation observation) {
    BootSources sources;
    const auto wanted = settings(observation);
    if (wanted.method == BootstrapMethod::GuestAgent)
        sources.join = std::make_unique<Join>(*this, observation);
    if (wanted.method == BootstrapMethod::CloudInit && wanted.delivery == BootstrapDelivery::HTTP) {
        sources.image = std::make_unique<ServedSource>(*this, std::move(observation));
    } else if (wanted.method == BootstrapMethod::CloudInit) {
        sources.image = std::make_unique<ImageSource>(*this, std::move(observation));
    } else if (configures_guest(observation)) {
        sources.guest = std::make_unique<GuestSource>(*this, std::move(observation));
    }
    return sources;
}

}  // namespace controllers::claim
