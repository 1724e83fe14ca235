#include "test/simulation/scenario.hpp"

#include <algorithm>

#include "test/simulation/dice.hpp"
#include "test/simulation/sites.hpp"
#include "test/simulators/proxmox/core/world_file.hpp"

namespace simulation {
namespace {

using namespace std::chrono_literals;
using api::v1alpha1::BootstrapMethod;
using proxmox_simulator::kMiB;

void draw_template(Dice& dice, Variety variety, NodeSmithPool& pool) {
    auto& machine = pool.spec.machineTemplate;
    const bool is_plain = variety == Variety::plain;
    if (dice.chance(0.3)) {
        machine.sizes = {{"small", 2, 4096}};
        if (dice.chance(0.7)) machine.sizes.push_back({"large", 4, 8192});
        if (!is_plain && dice.chance(0.3)) machine.sizes.push_back({"huge", 32, 131072});
    } else if (!is_plain && dice.chance(0.5)) {
        // These are the defaults of README, which are larger than most hosts.
        if (dice.chance(0.5)) machine.flexible.emplace();
    } else {
        machine.flexible.emplace();
        machine.flexible->cpuCores = {1, dice.between(2, 8), 1};
        machine.flexible->memoryMiB = {1024, dice.between(4, 16) * 1024, 512};
    }
    machine.labels["tier"] = pool.metadata.name;
    if (dice.chance(0.25)) machine.taints.push_back({"dedicated", pool.metadata.name, "NoSchedule", {}});
}

void draw_timing(Dice& dice, NodeSmithPool& pool) {
    auto& up = pool.spec.scaleUp;
    up.provisionTimeout = dice.seconds(180, 600);
    up.registrationTimeout = dice.seconds(180, 900);
    up.initializationTimeout = dice.seconds(180, 900);
    up.maxLaunchAttempts = static_cast<std::int32_t>(dice.between(1, 3));
    up.retry = {dice.seconds(5, 30), dice.seconds(60, 600)};
    if (dice.chance(0.2)) up.stabilizationWindow = dice.seconds(10, 120);
    if (dice.chance(0.2)) up.batchSize = static_cast<std::int32_t>(dice.between(1, 2));
    if (dice.chance(0.2)) up.maxConcurrent = static_cast<std::int32_t>(dice.between(1, 2));
    auto& down = pool.spec.scaleDown;
    down.stabilizationWindow = dice.seconds(10, 300);
    down.unneededDuration = dice.seconds(60, 600);
    down.emptyGracePeriod = dice.seconds(10, 180);
    down.minNodeAge = dice.seconds(30, 600);
    down.drainTimeout = dice.seconds(60, 600);
    down.volumeDetachTimeout = dice.seconds(30, 120);
    down.delayAfterFailure = dice.seconds(60, 600);
    down.maxConcurrent = static_cast<std::int32_t>(dice.between(1, 3));
    if (dice.chance(0.3)) down.drainTimeoutAction = api::v1alpha1::DrainTimeoutAction::Force;
}

// Draws disruption settings. Most pools have consolidation, drift and repair; some have expiry.
void draw_disruption(Dice& dice, NodeSmithPool& pool) {
    using api::v1alpha1::DisruptionReason;
    using api::v1alpha1::RepairAction;
    using api::v1alpha1::ScaleDownPolicy;
    auto& down = pool.spec.scaleDown;
    if (dice.chance(0.15)) down.policy = ScaleDownPolicy::WhenEmpty;
    if (dice.chance(0.05)) down.policy = ScaleDownPolicy::Never;
    down.utilizationThresholdPercent = static_cast<std::int32_t>(dice.one_of<std::int64_t>({30, 50, 80}));
    // A pool that tolerates unused resources may still limit their price.
    if (down.utilizationThresholdPercent == 30) down.priceThresholdPercent = 75;
    down.headroomPercent = static_cast<std::int32_t>(dice.one_of<std::int64_t>({0, 20}));
    if (dice.chance(0.1)) pool.spec.scaleUp.headroom.nodes = 1;
    auto& disruption = pool.spec.disruption;
    if (dice.chance(0.15)) disruption.drift = api::v1alpha1::DriftPolicy::Ignore;
    if (dice.chance(0.2)) disruption.expireAfter.duration = std::chrono::minutes{dice.between(15, 60)};
    auto& repair = disruption.repair;
    repair.notReadyFor = dice.seconds(180, 900);
    repair.maxUnhealthyPercent = static_cast<std::int32_t>(dice.one_of<std::int64_t>({20, 50, 100}));
    if (dice.chance(0.25)) repair.action = RepairAction::PowerCycleThenReplace;
    if (dice.chance(0.1)) repair.action = RepairAction::None;
    if (dice.chance(0.5)) {
        disruption.budgets = {{dice.chance(0.5) ? api::IntOrString("50%") : api::IntOrString(1), {}, "", {}}};
    }
    if (dice.chance(0.1)) {
        disruption.budgets.push_back({api::IntOrString(std::int64_t{0}),
                                      {DisruptionReason::Underutilized, DisruptionReason::Drifted},
                                      "0 * * * *",
                                      std::chrono::minutes{dice.between(5, 30)}});
    }
}

void draw_limits(Dice& dice, Variety variety, NodeSmithPool& pool) {
    auto& limits = pool.spec.limits;
    if (variety == Variety::of_users && dice.chance(0.2)) {
        limits = {0, 10, 64, 262144};
        return;
    }
    limits.maxNodes = dice.chance(0.7) ? dice.between(1, 6) : 0;
    if (dice.chance(0.3)) limits.cpuCores = dice.between(4, 24);
    if (dice.chance(0.3)) limits.memoryMiB = dice.between(8, 48) * 1024;
    if (dice.chance(0.25)) limits.minNodes = dice.between(1, 2);
}

api::Secret credentials() {
    api::Secret secret;
    secret.metadata.name = "proxmox";
    secret.metadata.namespace_ = kNodesNamespace;
    secret.type = "Opaque";
    secret.data[std::string(api::secret_keys::kTokenID)].value = "automation@pve!kubenodesmith";
    secret.data[std::string(api::secret_keys::kTokenSecret)].value = proxmox_simulator::kDefaultTokenSecret;
    return secret;
}

NodeSmithControlPlane a_control_plane() {
    NodeSmithControlPlane result;
    result.metadata.name = "kubenodesmith";
    result.metadata.namespace_ = kNodesNamespace;
    result.spec.pools = {"*"};
    return result;
}

}  // namespace

NodeSmithProvider a_provider(const std::string& name, std::int64_t first_vmid) {
    NodeSmithProvider provider;
    provider.metadata.name = name;
    provider.metadata.namespace_ = kNodesNamespace;
    provider.spec.credentialsSecretRef.emplace().name = "proxmox";
    auto& proxmox = provider.spec.proxmox.emplace();
    proxmox.endpoint = "https://alfaromeo:8006/api2/json";
    proxmox.vmIDRange = {first_vmid, first_vmid + 99};
    proxmox.networkInterfaces = {{"net0", "virtio", "vmbr0", {}, ""}};
    return provider;
}

NodeSmithPool a_pool(const std::string& name, const std::string& provider) {
    NodeSmithPool pool;
    pool.metadata.name = name;
    pool.metadata.namespace_ = kNodesNamespace;
    pool.spec.providerRef = provider;
    pool.spec.bootstrap.emplace().method = BootstrapMethod::CloudInit;
    return pool;
}

Scenario plain_scenario() {
    Scenario scenario;
    scenario.proxmox = proxmox_simulator::default_world();
    scenario.credentials = credentials();
    scenario.providers = {a_provider("lab", 1000)};
    scenario.pools = {a_pool("general", "lab")};
    scenario.control_plane = a_control_plane();
    scenario.deployments = {a_deployment("web", 2, "1", "1Gi")};
    scenario.changes_per_hour = 0;
    return scenario;
}

Scenario two_machine_scenario(const std::string& deployment) {
    auto scenario = plain_scenario();
    scenario.leader_election = true;
    auto& pool = scenario.pools.front();
    pool.spec.machineTemplate.sizes = {{"one", 2, 4096}};
    auto& down = pool.spec.scaleDown;
    down.emptyGracePeriod = 1min;
    down.minNodeAge = 1min;
    down.unneededDuration = 1min;
    down.stabilizationWindow = 0s;
    down.maxConcurrent = 5;
    pool.spec.disruption.budgets.clear();
    scenario.deployments = {a_deployment(deployment, 2, "1500m", "1Gi")};
    return scenario;
}

namespace {

void draw_plain_providers(Dice& dice, Scenario& scenario) {
    auto& world = scenario.proxmox;
    world = proxmox_simulator::default_world();
    world.hosts.resize(static_cast<std::size_t>(dice.between(1, 3)));
    if (world.hosts.size() == 1) world.standalone = true;
    for (auto& host : world.hosts) {
        host.cpus = static_cast<int>(dice.one_of<std::int64_t>({4, 8, 16}));
        host.memory = static_cast<std::uint64_t>(dice.one_of<std::int64_t>({12, 24, 64})) * 1024 * kMiB;
    }
    scenario.providers = {a_provider("lab", 1000)};
    if (dice.chance(0.25)) scenario.providers.push_back(a_provider("annex", 2000));
    for (auto& provider : scenario.providers) {
        if (dice.chance(0.2)) provider.spec.orphanGracePeriod = dice.seconds(60, 600);
        if (dice.chance(0.3)) provider.spec.proxmox->vmMemOverheadMiB = 512;
    }
}

// Draws the providers. At times one of them lacks something that it needs until the trouble ends.
void draw_providers(Dice& dice, Scenario& scenario) {
    const auto disks = dice.chance(0.3)   ? Disks::from_template
                       : dice.chance(0.5) ? Disks::blank
                                          : Disks::none;
    const auto site = draw_site(dice, draw_host_names(dice), disks);
    scenario.proxmox = site.world;
    scenario.providers = {a_provider("lab", 1000)};
    if (dice.chance(0.35)) scenario.providers.push_back(a_provider("annex", 2000));
    for (auto& provider : scenario.providers) {
        if (dice.chance(0.2)) provider.spec.orphanGracePeriod = dice.seconds(60, 600);
        if (dice.chance(0.3)) provider.spec.proxmox->vmMemOverheadMiB = 512;
        draw_site_use(dice, site, provider);
    }
    auto& last = scenario.providers.back().spec;
    if (scenario.providers.size() < 2 || !dice.chance(0.3)) return;
    if (dice.chance(0.5)) {
        last.proxmox->resourcePool = kMissingResourcePool;
    } else {
        last.credentialsSecretRef->name = "nowhere";
    }
}

void draw_pools(Dice& dice, Scenario& scenario) {
    const auto pools = dice.between(1, 3);
    for (std::int64_t i = 0; i < pools; ++i) {
        const auto& provider = dice.one_of(scenario.providers);
        auto pool = a_pool("pool-" + std::to_string(i), provider.metadata.name);
        // Without bootstrap data a machine boots from the network, with an image that joins by itself.
        if (!provider.spec.proxmox->template_ && dice.chance(0.25)) pool.spec.bootstrap.reset();
        pool.spec.weight = static_cast<std::int32_t>(dice.between(0, 2) * 10);
        if (dice.chance(0.1)) pool.spec.deletionPolicy = api::v1alpha1::DeletionPolicy::Retain;
        draw_template(dice, scenario.variety, pool);
        draw_limits(dice, scenario.variety, pool);
        draw_timing(dice, pool);
        draw_disruption(dice, pool);
        scenario.pools.push_back(pool);
    }
    auto& limits = scenario.control_plane.spec.limits;
    if (dice.chance(0.25)) limits.maxNodes = dice.between(2, 8);
    if (dice.chance(0.15)) limits.cpuCores = dice.between(8, 32);
    auto& rates = scenario.control_plane.spec.rateLimits;
    if (dice.chance(0.1)) rates.maxCreationsPerHour = static_cast<std::int32_t>(dice.between(3, 10));
    if (dice.chance(0.1)) rates.maxRemovalsPerHour = static_cast<std::int32_t>(dice.between(3, 10));
    if (dice.chance(0.3)) scenario.control_plane.spec.preferences = api::v1alpha1::Preferences::Respect;
}

// Draws the habits of kubelets. In every second seed they are the defaults of pools.
KubeletHabits draw_kubelets(Dice& dice) {
    KubeletHabits habits;
    if (dice.chance(0.5)) return habits;
    habits.cpu_millicores = dice.one_of<std::int64_t>({100, 100, 200, 500, 900});
    habits.memory_mib = dice.one_of<std::int64_t>({256, 256, 400, 612, 724});
    habits.disk_percent = dice.one_of<std::int64_t>({5, 10, 15, 30});
    habits.pods = dice.one_of<std::int64_t>({110, 110, 60, 16, 250});
    return habits;
}

void draw_metal(Dice& dice, Scenario& scenario) {
    auto pool = add_rack(scenario, dice);
    draw_limits(dice, scenario.variety, pool);
    draw_timing(dice, pool);
    scenario.control_plane.spec.pools.push_back(pool.metadata.name);
    scenario.pools.push_back(pool);
}

// Draws a cloud controller manager beside the operator, and pools that configure their kubelets for it.
void draw_neighbours(Dice& dice, Scenario& scenario) {
    using api::v1alpha1::ProviderIDFormat;
    for (auto& provider : scenario.providers) {
        if (!provider.spec.proxmox || !dice.chance(0.3)) continue;
        provider.spec.proxmox->region = "home-1";
        if (dice.chance(0.5)) provider.spec.proxmox->providerIDFormat = ProviderIDFormat::Region;
    }
    for (auto& pool : scenario.pools) {
        const bool is_told = dice.chance(0.3);
        if (!is_told || !pool.spec.bootstrap) continue;
        auto& kubelet = pool.spec.bootstrap->kubelet.emplace();
        kubelet.maxPods = dice.one_of<std::int64_t>({0, 16, 60, 250});
        kubelet.cloudProviderExternal = dice.chance(0.5);
    }
}

void draw_keeping(Dice& dice, Scenario& scenario) {
    for (auto& pool : scenario.pools) pool.spec.scaleUp.keepFailed = dice.chance(0.3) ? 1 : 0;
    scenario.keeps_in_peace = dice.chance(0.7);
}

void draw_prices(Dice& dice, Scenario& scenario) {
    using api::Quantity;
    for (auto& pool : scenario.pools) {
        if (!dice.chance(0.2)) continue;
        auto& price = pool.spec.machineTemplate.price.emplace();
        price.cpuCore = Quantity::of(dice.one_of<std::int64_t>({0, 1, 10}));
        price.memoryGiB = Quantity::parse(dice.chance(0.5) ? "0.3" : "2");
        if (dice.chance(0.5)) price.machine = Quantity::of(dice.one_of<std::int64_t>({0, 20}));
    }
}

// Gives some pools addresses of both families, fewer than the machines that they may want. All use the same
// ranges, because their providers are on one Proxmox.
void draw_networks(Dice& dice, Scenario& scenario) {
    for (auto& pool : scenario.pools) {
        const auto provider =
            std::ranges::find(scenario.providers, pool.spec.providerRef,
                              [](const NodeSmithProvider& each) { return each.metadata.name; });
        const bool is_told =
            provider != scenario.providers.end() && provider->spec.proxmox && pool.spec.bootstrap &&
            pool.spec.bootstrap->method == BootstrapMethod::CloudInit && !pool.spec.machineTemplate.network;
        if (!is_told || !dice.chance(0.25)) continue;
        pool.spec.machineTemplate.network = a_dual_stack_network(0);
    }
}

}  // namespace

api::v1alpha1::MachineNetwork a_dual_stack_network(std::int64_t number) {
    const auto v4 = "10.7." + std::to_string(number) + ".";
    const auto v6 = "fd07:" + std::to_string(number) + "::";
    api::v1alpha1::MachineNetwork network;
    network.mode = api::v1alpha1::NetworkMode::Static;
    network.addresses = {v4 + "1-" + v4 + "200"};
    network.gateway = v4 + "1";
    network.ipv6 = api::v1alpha1::IPv6Network{{v6 + "1-" + v6 + "c8"}, 64, v6 + "1"};
    network.nameservers = {v4 + "2"};
    return network;
}

Scenario draw_scenario(base::Random& random, Variety variety, double racks) {
    Dice dice(random);
    Scenario scenario;
    scenario.variety = variety;
    scenario.credentials = credentials();
    scenario.control_plane = a_control_plane();
    const bool is_plain = variety == Variety::plain;
    if (!is_plain && dice.chance(0.2)) {
        draw_manifests(dice, scenario);
    } else if (is_plain) {
        draw_plain_providers(dice, scenario);
        draw_pools(dice, scenario);
    } else {
        draw_providers(dice, scenario);
        draw_pools(dice, scenario);
    }
    draw_apps(dice, scenario);
    if (!is_plain) scenario.kubelets = draw_kubelets(dice);
    scenario.leader_election = dice.chance(0.3);
    scenario.changes_per_hour = dice.one_of<double>({4, 12, 30});
    if (dice.chance(racks)) draw_metal(dice, scenario);
    if (scenario.leader_election)
        scenario.lease_duration = dice.one_of<std::chrono::seconds>({15s, 60s, 120s});
    draw_keeping(dice, scenario);
    scenario.hosts_are_reachable = dice.chance(0.5);
    if (dice.chance(0.25)) confine_to_pools(scenario.proxmox, scenario.providers);
    draw_neighbours(dice, scenario);
    draw_networks(dice, scenario);
    draw_prices(dice, scenario);
    return scenario;
}

}  // namespace simulation
