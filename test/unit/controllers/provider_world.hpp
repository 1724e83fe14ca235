// A cluster with one provider whose backend the test controls.
#pragma once

#include <stdexcept>

#include "controllers/provider_reconciler.hpp"
#include "providers/errors.hpp"
#include "test/support/fake_provider.hpp"
#include "test/unit/controllers/cluster.hpp"

namespace provider_tests {

using namespace std::chrono_literals;
using objects::NodeSmithProvider;

namespace asio = boost::asio;

// Backend is a backend whose health the test decides.
class Backend final : public providers::Provider,
                      public providers::Dismantler,
                      public providers::EpochKeeper,
                      public providers::LeftoverFinder {
public:
    struct Script {
        providers::Health health{true, true, "", "", "9.2"};
        std::vector<providers::HostOffering> hosts;
        std::vector<providers::Machine> machines;
        providers::Leftovers leftovers;
        std::vector<providers::Leftover> under_way;
        std::string failure;  // check() throws this text
        int checks = 0;
        int made = 0;
        std::string left = "";  // what remains of its own creations
        int dismantlings = 0;
        int checks_before = 0;                      // checks before the first dismantling
        std::string token;                          // token of the backend that was made last
        std::optional<providers::EpochLook> epoch;  // nullopt: there is no place for one
    };
    explicit Backend(Script& script) : script_(script) {}

    asio::awaitable<providers::Health> check() override {
        ++script_.checks;
        if (!script_.failure.empty()) throw providers::ProviderError(script_.failure);
        co_return script_.health;
    }
    asio::awaitable<std::vector<providers::HostOffering>> offerings() override { co_return script_.hosts; }
    asio::awaitable<providers::EnsureResult> ensure(providers::MachineSpec) override {
        throw std::logic_error("ensure");
    }
    asio::awaitable<providers::RemoveResult> remove(providers::MachineIdentity, providers::MachineRecord,
                                                    providers::InUseCheck) override {
        throw std::logic_error("remove");
    }
    asio::awaitable<bool> release(providers::MachineIdentity, providers::MachineRecord) override {
        throw std::logic_error("release");
    }
    asio::awaitable<std::optional<providers::Machine>> get(providers::MachineIdentity,
                                                           providers::MachineRecord) override {
        throw std::logic_error("get");
    }
    asio::awaitable<std::vector<providers::Machine>> list() override { co_return script_.machines; }
    asio::awaitable<bool> switch_power(providers::MachineIdentity, providers::MachineRecord, providers::Power,
                                       providers::InUseCheck) override {
        throw std::logic_error("switch_power");
    }
    asio::awaitable<bool> discard_boot_image(providers::MachineIdentity, providers::MachineRecord) override {
        throw std::logic_error("discard_boot_image");
    }
    providers::Capabilities capabilities() override {
        return {.dismantler = this, .epoch_keeper = script_.epoch ? this : nullptr, .leftover_finder = this};
    }
    asio::awaitable<providers::EpochLook> read_epoch(providers::ExpectedUuid) override {
        co_return script_.epoch.value();
    }
    asio::awaitable<void> write_epoch(providers::EpochSlot slot, providers::EpochRecord record) override {
        slot.record = std::move(record);
        script_.epoch.value().slot = std::move(slot);
        co_return;
    }
    asio::awaitable<providers::Leftovers> leftovers() override { co_return script_.leftovers; }
    asio::awaitable<std::vector<providers::Leftover>> under_way() override { co_return script_.under_way; }
    asio::awaitable<std::vector<providers::Machine>> unfinished(std::string) override {
        throw std::logic_error("unfinished");
    }
    asio::awaitable<std::string> dismantle() override {
        if (++script_.dismantlings == 1) script_.checks_before = script_.checks;
        co_return script_.left;
    }

private:
    Script& script_;
};

struct World : test::Cluster {
    Backend::Script script;
    providers::ProviderEnvironment environment{
        context.get_executor(), clock, *random, metrics, nullptr, nullptr};
    controllers::ProviderInstances instances{
        informers, client, environment,
        [this](providers::ProviderConfig config, providers::ProviderEnvironment&) {
            if (!config.credentials.contains("PROXMOX_TOKEN_ID"))
                throw std::invalid_argument("Secret default/token has no key PROXMOX_TOKEN_ID");
            ++script.made;
            script.token = config.credentials.at("PROXMOX_TOKEN_ID");
            return std::make_unique<Backend>(script);
        }};
    controllers::ProviderReconciler providers{{informers, client, clock, events, metrics}, instances};

    World() {
        providers::HostOffering host;
        host.name = "pve1";
        host.usable = true;
        host.cpu_cores = 16;
        host.memory_mib = 65536;
        host.free_cpu_cores = 60;
        host.free_memory_mib = 60000;
        host.machines = {"100", "101"};
        script.hosts = {host};
        put_secret("root@pam!token");
        NodeSmithProvider provider = objects::provider("proxmox");
        provider.status = {};
        provider.spec.credentialsSecretRef.emplace();
        provider.spec.credentialsSecretRef->name = "token";
        server.put(provider);
        add("provider", providers);
    }
    ~World() { stop(); }

    void put_secret(const std::string& token) {
        api::Secret secret;
        secret.metadata.name = "token";
        secret.metadata.namespace_ = "default";
        secret.data["PROXMOX_TOKEN_ID"].value = token;
        server.put(secret);
    }
    // Makes the provider build its templates from an image.
    void use_image() {
        edit([](NodeSmithProvider& provider) {
            auto& image = provider.spec.proxmox->template_.emplace().image.emplace();
            image.url = "https://images.example/debian.qcow2";
        });
    }
    void edit(std::function<void(NodeSmithProvider&)> change) {
        server.edit<NodeSmithProvider>({"default", "proxmox"}, change);
    }
    NodeSmithProvider provider() { return server.get<NodeSmithProvider>({"default", "proxmox"}).value(); }
    std::string condition(const std::string& type) {
        const auto held = provider();
        const auto* found = api::find_condition(held.status.conditions, type);
        return found ? std::string(to_string(found->status)) + " " + found->reason : "";
    }
    std::string message(const std::string& type) {
        const auto held = provider();
        return api::find_condition(held.status.conditions, type)->message;
    }
};

}  // namespace provider_tests
