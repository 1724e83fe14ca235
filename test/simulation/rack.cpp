// Draws the bare metal of a scenario: a provider, its hosts, and how their BMCs differ.
#include "test/simulation/dice.hpp"
#include "test/simulation/reliable_rack.hpp"
#include "test/simulation/scenario.hpp"
#include "test/support/seeded_random.hpp"

namespace simulation {
namespace {

using namespace std::chrono_literals;

redfish_simulator::Profile draw_profile(Dice& dice, std::int64_t index) {
    redfish_simulator::Profile profile;
    profile.uuid = "4c4c4544-0042-3510-8054-b4c04f4d313" + std::to_string(index);
    profile.processors = 4 << dice.between(0, 2);
    profile.memory_gib = static_cast<double>(8 << dice.between(0, 2));
    profile.has_sessions = dice.chance(0.7);
    profile.session_limit = static_cast<std::size_t>(dice.between(1, 4));
    profile.session_timeout = dice.chance(0.5) ? base::Duration(30min) : base::Duration(20s);
    profile.latency = std::chrono::milliseconds{20 + 400 * dice.between(0, 4)};
    profile.error_is_object = dice.chance(0.3);
    profile.resets_in_action_info = dice.chance(0.3);
    profile.no_graceful_shutdown = dice.chance(0.2);
    profile.power_on = dice.seconds(1, 30);
    profile.power_off = dice.seconds(1, 15);
    profile.shutdown = dice.seconds(1, 100);
    profile.ignores_shutdown = dice.chance(0.2);
    profile.sticks_powering_on = dice.chance(0.1);
    profile.falls_back = dice.chance(0.1);
    profile.conflict_after_off = dice.chance(0.3) ? 40s : 0s;
    profile.complains_if_already = dice.chance(0.4);
    profile.remembers_power = dice.chance(0.4) ? dice.seconds(1, 60) : 0s;
    profile.drops_second_reset = dice.chance(0.3);
    profile.boot_on_settings = dice.chance(0.2);
    profile.wants_full_boot = dice.chance(0.2);
    profile.only_continuous = dice.chance(0.2);
    profile.weak_header = dice.chance(0.2);
    profile.demands_tag = dice.chance(0.2);
    return profile;
}

BareMetal draw_host(Dice& dice, std::int64_t index) {
    BareMetal host;
    host.profile = draw_profile(dice, index);
    auto& object = host.object;
    object.metadata.name = "metal-" + std::to_string(index);
    object.metadata.namespace_ = kNodesNamespace;
    object.spec.providerRef = "rack";
    object.spec.bmc.address = "https://" + object.metadata.name;
    object.spec.systemUUID = host.profile.uuid;
    object.spec.priority = static_cast<std::int32_t>(dice.between(0, 2));
    return host;
}

}  // namespace

NodeSmithPool add_rack(Scenario& scenario, Dice& dice) {
    using api::v1alpha1::BootMethod;
    NodeSmithProvider provider;
    provider.metadata.name = "rack";
    provider.metadata.namespace_ = kNodesNamespace;
    provider.spec.type = api::v1alpha1::ProviderType::redfish;
    provider.spec.credentialsSecretRef.emplace().name = "bmc";
    if (dice.chance(0.2)) provider.spec.orphanGracePeriod = dice.seconds(1, 600);
    auto& redfish = provider.spec.redfish.emplace();
    redfish.boot.method =
        dice.one_of<BootMethod>({BootMethod::Disk, BootMethod::PXE, BootMethod::VirtualMedia});
    if (redfish.boot.method == BootMethod::VirtualMedia)
        redfish.boot.imageURL = "https://images.example/{{ .Host }}.iso";
    scenario.providers.push_back(provider);

    auto& secret = scenario.bmc_credentials;
    secret.metadata.name = "bmc";
    secret.metadata.namespace_ = kNodesNamespace;
    secret.type = "Opaque";
    secret.data["username"].value = redfish_simulator::Profile{}.username;
    secret.data["password"].value = redfish_simulator::Profile{}.password;

    const auto hosts = dice.between(2, 4);
    for (std::int64_t i = 1; i <= hosts; ++i) scenario.bare_metal.push_back(draw_host(dice, i));
    scenario.bare_metal.back().is_foreign = dice.chance(0.5);

    auto pool = a_pool("metal", "rack");
    pool.spec.bootstrap.reset();
    pool.spec.weight = static_cast<std::int32_t>(10 * dice.between(0, 3));
    pool.spec.machineTemplate.labels["tier"] = "metal";
    if (dice.chance(0.1)) pool.spec.deletionPolicy = api::v1alpha1::DeletionPolicy::Retain;
    return pool;
}

void use_reliable_rack(Scenario& scenario, const std::string& deployment) {
    const auto random = fake::make_seeded_random(1);
    Dice dice(*random);
    auto pool = add_rack(scenario, dice);
    const auto& plain = scenario.pools.front().spec;
    pool.spec.scaleDown = plain.scaleDown;
    pool.spec.disruption = plain.disruption;
    pool.spec.deletionPolicy = api::v1alpha1::DeletionPolicy::Delete;
    scenario.pools = {pool};
    scenario.providers.back().spec.redfish->boot.method = api::v1alpha1::BootMethod::Disk;
    for (auto& host : scenario.bare_metal) {
        redfish_simulator::Profile profile;
        profile.uuid = host.profile.uuid;
        profile.processors = 4;
        profile.memory_gib = 16;
        profile.power_on = 20s;
        profile.shutdown = 20s;
        host.profile = profile;
        host.is_foreign = false;
    }
    scenario.deployments = {a_deployment(deployment, 2, "3", "1Gi")};
}

}  // namespace simulation
