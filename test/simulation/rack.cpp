// Bare metal of a scenario: a provider, its hosts, and how their BMCs differ.
#include "test/simulation/scenario.hpp"

namespace simulation {
namespace {

using namespace std::chrono_literals;

bool chance(base::Random& random, double probability) {
    return random.unit() < probability;
}

std::chrono::seconds up_to(base::Random& random, std::uint64_t most) {
    return std::chrono::seconds{1 + random.below(most)};
}

redfish_simulator::Profile draw_profile(base::Random& random, int index) {
    redfish_simulator::Profile profile;
    profile.uuid = "4c4c4544-0042-3510-8054-b4c04f4d313" + std::to_string(index);
    profile.processors = 4 << random.below(3);
    profile.memory_gib = static_cast<double>(8 << random.below(3));
    profile.has_sessions = chance(random, 0.7);
    profile.session_limit = 1 + random.below(4);
    profile.session_timeout = chance(random, 0.5) ? base::Duration(30min) : base::Duration(20s);
    profile.latency = std::chrono::milliseconds{20 + 400 * random.below(5)};
    profile.error_is_object = chance(random, 0.3);
    profile.resets_in_action_info = chance(random, 0.3);
    profile.no_graceful_shutdown = chance(random, 0.2);
    profile.power_on = up_to(random, 30);
    profile.power_off = up_to(random, 15);
    profile.shutdown = up_to(random, 100);
    profile.ignores_shutdown = chance(random, 0.2);
    profile.sticks_powering_on = chance(random, 0.1);
    profile.falls_back = chance(random, 0.1);
    profile.conflict_after_off = chance(random, 0.3) ? 40s : 0s;
    profile.complains_if_already = chance(random, 0.4);
    profile.remembers_power = chance(random, 0.4) ? up_to(random, 60) : 0s;
    profile.drops_second_reset = chance(random, 0.3);
    profile.boot_on_settings = chance(random, 0.2);
    profile.wants_full_boot = chance(random, 0.2);
    profile.only_continuous = chance(random, 0.2);
    profile.weak_header = chance(random, 0.2);
    profile.demands_tag = chance(random, 0.2);
    return profile;
}

BareMetal draw_host(base::Random& random, int index) {
    BareMetal host;
    host.profile = draw_profile(random, index);
    auto& object = host.object;
    object.metadata.name = "metal-" + std::to_string(index);
    object.metadata.namespace_ = kNodesNamespace;
    object.spec.providerRef = "rack";
    object.spec.bmc.address = "https://" + object.metadata.name;
    object.spec.systemUUID = host.profile.uuid;
    object.spec.priority = static_cast<std::int32_t>(random.below(3));
    return host;
}

}  // namespace

NodeSmithPool add_rack(Scenario& scenario, base::Random& random) {
    using api::v1alpha1::BootMethod;
    NodeSmithProvider provider;
    provider.metadata.name = "rack";
    provider.metadata.namespace_ = kNodesNamespace;
    provider.spec.type = api::v1alpha1::ProviderType::redfish;
    provider.spec.credentialsSecretRef.emplace().name = "bmc";
    if (chance(random, 0.2)) provider.spec.orphanGracePeriod = up_to(random, 600);
    auto& redfish = provider.spec.redfish.emplace();
    const BootMethod methods[] = {BootMethod::Disk, BootMethod::PXE, BootMethod::VirtualMedia};
    redfish.boot.method = methods[random.below(3)];
    if (redfish.boot.method == BootMethod::VirtualMedia)
        redfish.boot.imageURL = "https://images.example/{{ .Host }}.iso";
    scenario.providers.push_back(provider);

    auto& secret = scenario.bmc_credentials;
    secret.metadata.name = "bmc";
    secret.metadata.namespace_ = kNodesNamespace;
    secret.type = "Opaque";
    secret.data["username"].value = redfish_simulator::Profile{}.username;
    secret.data["password"].value = redfish_simulator::Profile{}.password;

    const auto hosts = 2 + static_cast<int>(random.below(3));
    for (int i = 1; i <= hosts; ++i) scenario.bare_metal.push_back(draw_host(random, i));
    scenario.bare_metal.back().is_foreign = chance(random, 0.5);

    auto pool = a_pool("metal", "rack");
    pool.spec.bootstrap.reset();
    pool.spec.weight = static_cast<std::int32_t>(10 * random.below(4));
    pool.spec.machineTemplate.labels["tier"] = "metal";
    if (chance(random, 0.1)) pool.spec.deletionPolicy = api::v1alpha1::DeletionPolicy::Retain;
    return pool;
}

}  // namespace simulation
