#include "providers/redfish/redfish_provider.hpp"

#include "api/names.hpp"
#include "base/uuid.hpp"
#include "providers/capabilities.hpp"
#include "providers/errors.hpp"
#include "providers/redfish/hosts/examiner.hpp"
#include "providers/redfish/hosts/host_epochs.hpp"
#include "providers/redfish/hosts/selection.hpp"
#include "providers/redfish/power/sleeper.hpp"

namespace providers::redfish {

namespace {

std::string not_speaking_for(const std::string& host, const std::string& told, const std::string& expected) {
    if (told.empty()) return "the BMC of host " + host + " reports no system UUID at the moment";
    return "the BMC of host " + host + " reports system UUID " + told + " instead of " + expected;
}

class RedfishProvider final : public Provider, public HostExaminer, public SessionHolder {
public:
    RedfishProvider(ProviderConfig config, ProviderEnvironment& environment)
        : settings_(make_settings(config)),
          inventory_(*environment.hosts),
          fleet_(settings_, inventory_, environment),
          binding_(settings_, inventory_, environment.clock),
          waker_(settings_, fleet_, binding_, progress_, environment.clock),
          sleeper_(settings_, fleet_, binding_, progress_, environment.clock),
          examiner_(settings_, fleet_, binding_, environment.clock),
          epochs_(settings_, fleet_, environment.clock) {}

    asio::awaitable<EnsureResult> ensure(MachineSpec spec) override {
        co_return co_await waker_.ensure(std::move(spec));
    }
    asio::awaitable<RemoveResult> remove(MachineIdentity identity, MachineRecord record,
                                         InUseCheck in_use) override {
        co_return co_await sleeper_.remove(std::move(identity), std::move(record), std::move(in_use));
    }
    asio::awaitable<bool> release(MachineIdentity identity, MachineRecord record) override {
        co_return co_await sleeper_.release(std::move(identity), std::move(record));
    }
    asio::awaitable<std::optional<Machine>> get(MachineIdentity identity, MachineRecord record) override;
    asio::awaitable<std::vector<Machine>> list() override;
    asio::awaitable<std::vector<HostOffering>> offerings() override;
    asio::awaitable<Health> check() override;
    asio::awaitable<bool> switch_power(MachineIdentity identity, MachineRecord record, Power power,
                                       InUseCheck in_use) override;
    asio::awaitable<bool> discard_boot_image(MachineIdentity, MachineRecord) override { co_return true; }
    asio::awaitable<HostReport> examine_host(std::string host) override;
    asio::awaitable<void> end_sessions() override { co_await fleet_.end_sessions(); }
    void follow_credentials(const std::string& version) override { settings_.credentials_version = version; }
    Capabilities capabilities() override {
        // Without locks there is no place for an epoch.
        return {.epoch_keeper = locks_hosts(settings_) ? &epochs_ : nullptr,
                .host_examiner = this,
                .session_holder = this};
    }

private:
    std::vector<HostPointer> hosts() { return inventory_.hosts(settings_.namespace_, settings_.name); }
    Machine machine_of(const Host& host, MachineIdentity identity) const;

    RedfishSettings settings_;
    HostInventory& inventory_;
    BmcConnections fleet_;
    Binding binding_;
    ProgressBook progress_;
    Waker waker_;
    Sleeper sleeper_;
    Examiner examiner_;
    HostEpochs epochs_;
};

Machine RedfishProvider::machine_of(const Host& host, MachineIdentity identity) const {
    Machine machine;
    machine.identity = std::move(identity);
    machine.name = host.node_name.empty() ? host.name : host.node_name;
    machine.record.host = host.name;
    machine.record.machine_id = host.name;
    machine.provider_id = settings_.provider_id(host.name);
    machine.state = is_on(host) ? MachineState::running : MachineState::stopped;
    machine.is_bare_metal = true;
    if (host.capacity) {
        machine.cpu_cores = host.capacity->cpu_cores;
        machine.memory_mib = host.capacity->memory_mib;
    }
    return machine;
}

asio::awaitable<std::vector<Machine>> RedfishProvider::list() {
    std::vector<Machine> machines;
    for (const auto& host : hosts()) {
        if (!host->use.owner) continue;
        MachineIdentity identity;
        identity.cluster_id = settings_.cluster_id;
        identity.provider_uid = settings_.uid;
        identity.claim_namespace = settings_.namespace_;
        identity.claim_name = host->use.owner->claim_name;
        identity.claim_uid = host->use.owner->claim_uid;
        identity.system_uuid = host->system_uuid;
        machines.push_back(machine_of(*host, std::move(identity)));
    }
    co_return machines;
}

// Returns the machine. If the host has no owner but runs with the claim's identity, its object was restored
// from a backup. Then the claim takes its host again.
asio::awaitable<std::optional<Machine>> RedfishProvider::get(MachineIdentity identity, MachineRecord record) {
    if (record.machine_id.empty()) co_return std::nullopt;
    const auto host = co_await binding_.read(record.machine_id);
    if (!host) co_return std::nullopt;
    if (is_bound_to(*host, identity)) {
        auto machine = machine_of(*host, std::move(identity));
        // The recorded power state may be older than the command.
        const bool may_be_off = host->use.stage == HostStage::powering_off;
        if (may_be_off && machine.state == MachineState::running) {
            machine.state = MachineState::starting;
            machine.message = "host " + host->name + " is being turned off";
        }
        co_return machine;
    }
    if (host->use.owner) co_return std::nullopt;
    const auto station = co_await fleet_.station(*host);
    const auto visit = co_await station->bmc.visit();
    const auto system = co_await station->hardware.system();
    const bool answers_as_other = base::same_uuid(host->system_uuid, identity.system_uuid) &&
                                  !base::same_uuid(system.uuid, identity.system_uuid);
    if (answers_as_other)
        throw ProviderError(not_speaking_for(record.machine_id, system.uuid, identity.system_uuid) +
                            ": it is not known whether the machine exists");
    const bool is_it = system.power == PowerState::on && base::same_uuid(system.uuid, identity.system_uuid);
    if (!is_it) co_return std::nullopt;
    auto taken = co_await binding_.take(*host, identity);
    if (taken) taken = co_await binding_.enter(*taken, HostStage::joining, "was found on");
    if (!taken) throw ProviderError(changed_meanwhile(record.machine_id));
    co_return machine_of(*taken, std::move(identity));
}

asio::awaitable<bool> RedfishProvider::switch_power(MachineIdentity identity, MachineRecord record,
                                                    Power power, InUseCheck in_use) {
    const auto name = record.machine_id;
    const ProviderError not_reserved("host " + name + " is not reserved for claim " + identity.claim_name);
    const auto host = co_await binding_.read(name);
    if (!host || !is_bound_to(*host, identity)) throw not_reserved;
    const auto station = co_await fleet_.station(*host);
    const auto visit = co_await station->bmc.visit();
    const auto system = co_await station->hardware.system();
    if (!base::same_uuid(system.uuid, identity.system_uuid))
        throw ProviderError(not_speaking_for(name, system.uuid, identity.system_uuid));
    if (power == Power::off) {
        Sleeper::Command order{std::move(identity), std::move(in_use)};
        co_return co_await sleeper_.switch_off(std::move(order), *host, station, system);
    }
    if (system.power == PowerState::on) co_return true;
    if (system.power != PowerState::off) co_return false;
    const bool is_ours = co_await binding_.still_has(identity, name);
    if (!is_ours) throw not_reserved;
    co_await waker_.switch_on(std::move(identity), *host, station, system);
    co_return false;
}

asio::awaitable<std::vector<HostOffering>> RedfishProvider::offerings() {
    co_await fleet_.forget_missing();
    std::vector<HostOffering> offerings;
    for (const auto& host : hosts()) {
        HostOffering offering;
        offering.name = host->name;
        offering.zone = host->name;
        const auto why = why_unusable(*host, settings_);
        offering.usable = !why;
        offering.why_not = why.value_or("");
        offering.evacuate = host->is_in_maintenance;
        if (host->use.owner) offering.machines.push_back(host->name);
        if (host->capacity) {
            offering.cpu_cores = host->capacity->cpu_cores;
            offering.memory_mib = host->capacity->memory_mib;
        }
        if (offering.usable) {
            offering.free_cpu_cores = offering.cpu_cores;
            offering.free_memory_mib = offering.memory_mib;
        }
        offerings.push_back(std::move(offering));
    }
    co_return offerings;
}

// Checks the provider. Hosts are examined one by one elsewhere; the provider is healthy if any of them
// answers.
asio::awaitable<Health> RedfishProvider::check() {
    Health health;
    health.credentials_ok = true;
    std::size_t reachable = 0;
    const auto all = hosts();
    for (const auto& host : all) {
        if (host->is_reachable) ++reachable;
    }
    health.reachable = reachable > 0;
    if (health.reachable) co_return health;
    health.reason = all.empty() ? "NoHosts" : std::string(api::reasons::kUnreachable);
    health.message = all.empty()
                         ? "no NodeSmithHost of this namespace has spec.providerRef " + settings_.name
                         : (all.size() == 1 ? "the BMC of its only NodeSmithHost does not answer"
                                            : "none of the " + std::to_string(all.size()) + " BMCs answers") +
                               std::string("; kubectl describe nshost says why");
    co_return health;
}

asio::awaitable<HostReport> RedfishProvider::examine_host(std::string name) {
    const auto host = inventory_.find(settings_.namespace_, settings_.name, name);
    if (host) co_return co_await examiner_.examine(*host);
    HostReport missing;
    missing.reason = "NoHost";
    co_return missing;
}

}  // namespace

std::unique_ptr<Provider> make_redfish_provider(ProviderConfig config, ProviderEnvironment& environment) {
    if (!environment.hosts) throw std::invalid_argument("spec.type: redfish needs NodeSmithHosts");
    return std::make_unique<RedfishProvider>(std::move(config), environment);
}

}  // namespace providers::redfish
