#include "test/unit/redfish/world.hpp"

#include <stdexcept>

#include "providers/capabilities.hpp"
#include "providers/errors.hpp"

// HostSource is unique for every version of a host.
struct providers::HostSource {};

namespace redfish_tests {

std::vector<providers::HostPointer> Inventory::hosts(const std::string&, const std::string&) {
    std::vector<providers::HostPointer> all;
    all.reserve(objects.size());
    for (const auto& [name, object] : objects) all.push_back(std::make_shared<const Host>(object));
    return all;
}

asio::awaitable<std::optional<Host>> Inventory::read(std::string, std::string name) {
    if (on_read) on_read();
    const auto found = objects.find(name);
    if (found == objects.end()) co_return std::nullopt;
    co_return found->second;
}

providers::HostPointer Inventory::find(const std::string&, const std::string&, const std::string& name) {
    const auto found = objects.find(name);
    return found == objects.end() ? nullptr : std::make_shared<const Host>(found->second);
}

void Inventory::touch(const std::string& name) {
    objects.at(name).source = std::make_shared<const providers::HostSource>();
}

asio::awaitable<std::optional<Host>> Inventory::write(Host before, providers::HostUse use,
                                                      std::string message) {
    const auto found = objects.find(before.name);
    if (found == objects.end() || found->second.source != before.source) co_return std::nullopt;
    auto& host = found->second;
    if (message.empty()) use.stage = host.use.stage;
    const bool is_same =
        host.use == use && host.readiness && !host.readiness->is_ready && host.readiness->message == message;
    if (is_same) co_return host;
    host.use = std::move(use);
    if (!message.empty()) host.readiness = providers::HostReadiness{false, std::move(message)};
    touch(before.name);
    co_return host;
}

void Inventory::announce(const Host& host, std::string reason, std::string message) {
    announced.push_back(reason + " " + host.name + " " + message);
    if (on_announcement) on_announcement();
}

asio::awaitable<providers::SecretData> Inventory::secret(std::string, std::string name) {
    const auto found = secrets.find(name);
    if (found == secrets.end()) throw providers::CredentialsError("there is no Secret " + name);
    co_return providers::SecretData{found->second, name + "@" + secret_version};
}

World::World(api::v1alpha1::RedfishSpec spec)
    : environment{context.get_executor(),
                  clock,
                  *random,
                  metrics,
                  [this](base::HttpClientOptions options) {
                      return redfish_simulator::with_odd_answers(network.connect(options),
                                                                 odd_answers[options.url], clock);
                  },
                  [this] { return may_mutate; },
                  &inventory} {
    config.namespace_ = "default";
    config.name = "rack";
    config.uid = "uid-of-the-provider";
    config.cluster_id = "uid-of-the-cluster";
    config.spec.type = api::v1alpha1::ProviderType::redfish;
    config.spec.redfish = std::move(spec);
    config.spec.credentialsSecretRef = api::v1alpha1::SecretReference{"bmc", ""};
    config.credentials_version = "bmc@1";
    config.credentials = {{"username", "admin"}, {"password", Profile{}.password}};
    restart();
}

void World::restart() {
    provider.reset();
    provider = providers::redfish::make_redfish_provider(config, environment);
}

Bmc& World::add(const std::string& name, Profile profile) {
    Host host;
    host.name = name;
    host.bmc.url = "https://" + name;
    host.power_state = "Off";
    host.system_uuid = profile.uuid;
    host.capacity =
        providers::Capacity{profile.processors, static_cast<std::int64_t>(profile.memory_gib * 1024)};
    host.disks = profile.drives;
    host.readiness = providers::HostReadiness{true, ""};
    inventory.objects[name] = host;
    inventory.touch(name);
    return network.add("https://" + name, std::move(profile));
}

World::Claim World::claim(const std::string& name, std::int64_t cpus, std::int64_t memory_mib) {
    Claim claim;
    claim.identity.cluster_id = config.cluster_id;
    claim.identity.provider_uid = config.uid;
    claim.identity.claim_namespace = "default";
    claim.identity.claim_name = name;
    claim.identity.claim_uid = "uid-of-claim-" + name;
    claim.identity.system_uuid = "11111111-2222-5333-8444-555555555555";
    sizes[claim.identity.claim_uid] = {cpus, memory_mib};
    return claim;
}

providers::EnsureResult World::ensure(Claim& claim) {
    providers::MachineSpec spec;
    spec.identity = claim.identity;
    spec.name = claim.identity.claim_name;
    std::tie(spec.cpu_cores, spec.memory_mib) = sizes[claim.identity.claim_uid];
    spec.record = claim.record;
    spec.boot_image = boot_image;
    auto result = run(provider->ensure(std::move(spec)));
    if (const auto* machine = std::get_if<providers::Machine>(&result)) {
        claim.record = machine->record;
        if (machine->state != providers::MachineState::placed)
            claim.identity.system_uuid = machine->identity.system_uuid;
    }
    return result;
}

providers::RemoveResult World::remove(Claim& claim, providers::InUseCheck in_use) {
    auto result = run(provider->remove(claim.identity, claim.record, std::move(in_use)));
    const auto* busy = std::get_if<providers::RemovalInProgress>(&result);
    if (busy) claim.record.task = busy->task;
    if (std::holds_alternative<providers::Gone>(result)) claim.record.task.clear();
    return result;
}

bool World::wake(Claim& claim, base::Duration limit) {
    const auto deadline = clock.now() + limit;
    while (clock.now() < deadline) {
        const auto result = ensure(claim);
        base::Duration wait{};
        if (const auto* machine = std::get_if<providers::Machine>(&result)) {
            claim.outcome = machine->message;
            wait = machine->retry_after;
            if (machine->state == providers::MachineState::running) {
                claim.outcome = "running";
                return true;
            }
        } else if (const auto* busy = std::get_if<providers::NotReady>(&result)) {
            claim.outcome = busy->message;
            wait = busy->retry_after;
        } else if (const auto* full = std::get_if<providers::InsufficientCapacity>(&result)) {
            claim.outcome = full->message;
            return false;
        } else if (const auto* failed = std::get_if<providers::AttemptFailed>(&result)) {
            claim.outcome = failed->reason + ": " + failed->message;
            return false;
        }
        pass(std::max<base::Duration>(wait, std::chrono::milliseconds{10}));
    }
    return false;
}

bool World::put_to_sleep(Claim& claim, base::Duration limit) {
    const auto deadline = clock.now() + limit;
    while (clock.now() < deadline) {
        const auto result = remove(claim);
        if (std::holds_alternative<providers::Gone>(result)) return true;
        base::Duration wait{};
        if (const auto* busy = std::get_if<providers::RemovalInProgress>(&result)) {
            claim.outcome = busy->message;
            wait = busy->retry_after;
        } else if (const auto* blocked = std::get_if<providers::RemovalBlocked>(&result)) {
            claim.outcome = blocked->reason + ": " + blocked->message;
            wait = blocked->retry_after;
        }
        pass(std::max<base::Duration>(wait, std::chrono::milliseconds{10}));
    }
    return false;
}

World::Claim World::serving(const std::string& name, const std::string& host) {
    auto made = claim(name);
    if (!wake(made)) throw std::logic_error("claim " + name + " could not wake host " + host);
    joined(host);
    pass(std::chrono::minutes{5});
    return made;
}

void World::joined(const std::string& name) {
    host(name).use.stage = HostStage::in_use;
    inventory.touch(name);
}

providers::HostReport World::examine(const std::string& name) {
    return run(provider->capabilities().host_examiner->examine_host(name));
}

}  // namespace redfish_tests
