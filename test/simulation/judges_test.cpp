// Tests the judges of the simulation: its scheduler, its search for helpful launches, and the manifests that
// it reads.
#include <algorithm>

#include "test/simulation/manifests.hpp"
#include "test/simulation/search.hpp"
#include "test/support/catch.hpp"

using namespace simulation;
using namespace std::chrono_literals;

namespace {

// LonelyWorld is a world without any operator.
struct LonelyWorld {
    explicit LonelyWorld(std::vector<Deployment> deployments)
        : world(1, scenario_of(deployments), Recording::off) {
        world.faults.stop();
        world.server.edit<NodeSmithProvider>({kNodesNamespace, "lab"}, [](NodeSmithProvider& provider) {
            provider.status.conditions = {
                {std::string(api::conditions::kReady), api::ConditionStatus::True, {}, {}, "Ready", ""}};
        });
    }
    ~LonelyWorld() { world.shut_down(); }

    static Scenario scenario_of(std::vector<Deployment> deployments) {
        auto scenario = plain_scenario();
        scenario.deployments = std::move(deployments);
        return scenario;
    }

    void join(const std::string& name) {
        Registration registration{name, "uuid-of-" + name, 8, 16384, 40960};
        registration.ready_after = 1s;
        world.kubelets.join(registration);
    }

    std::int64_t pods_on(const std::string& node) const {
        return static_cast<std::int64_t>(world.view.pods_on(node).size());
    }

    // Returns the launch that helps the first pod of the deployment.
    std::optional<HelpfulMachine> help_for(const std::string& deployment) const {
        for (const auto& [key, pod] : world.view.all<api::Pod>()) {
            const auto* owner = api::controller_of(pod->metadata);
            if (owner && owner->name == deployment) return machine_that_helps(world, *pod);
        }
        throw std::logic_error("there is no pod of " + deployment);
    }

    World world;
};

api::TopologySpreadConstraint spread_over_nodes(const std::string& app) {
    api::TopologySpreadConstraint spread;
    spread.topologyKey = api::labels::kHostname;
    spread.labelSelector.emplace().matchLabels = {{"app", app}};
    return spread;
}

}  // namespace

TEST_CASE(
    "the search finds the machine that a waiting pod needs, and none for a pod larger than every host") {
    auto lost = a_deployment("lost", 1, "1", "1Gi");
    lost.pod.spec.nodeSelector["disk"] = "ssd";
    LonelyWorld lonely({a_deployment("web", 1, "3", "1Gi"), a_deployment("giant", 1, "40", "1Gi"), lost});
    lonely.world.run_for(5s);
    const auto help = lonely.help_for("web");
    REQUIRE(help);
    CHECK(help->pool == "general");
    CHECK(help->cpu_cores == 4);
    CHECK_FALSE(lonely.help_for("giant"));
    CHECK_FALSE(lonely.help_for("lost"));
}

TEST_CASE("a pause of a pool excuses it only if its last claim had a machine") {
    LonelyWorld lonely({a_deployment("web", 1, "3", "1Gi")});
    lonely.world.run_for(5s);
    NodeSmithClaim failed;
    failed.metadata.namespace_ = kNodesNamespace;
    failed.metadata.name = "general-1";
    failed.metadata.uid = "uid-of-general-1";
    failed.spec.poolRef = "general";
    failed.status.conditions = {
        {std::string(api::conditions::kFailed), api::ConditionStatus::True, {}, {}, "Test", ""}};
    failed.status.lastFailure = {"CloneFailed", "the storage is offline", "",
                                 api::Time(lonely.world.clock.wall_now())};
    lonely.world.server.put(failed);
    lonely.world.server.edit<NodeSmithPool>({kNodesNamespace, "general"}, [&](NodeSmithPool& pool) {
        pool.status.nextRetryTime = api::Time(lonely.world.clock.wall_now() + 30min);
    });
    CHECK_FALSE(lonely.help_for("web"));
    lonely.world.interference.last_failures["general"] = "the storage is offline";
    auto& refusal = lonely.world.interference.machine_refusal;
    refusal.message = "the storage is offline";
    CHECK(lonely.help_for("web"));
    refusal.provider = "general";
    refusal.is_in_force = true;
    CHECK_FALSE(lonely.help_for("web"));
}

TEST_CASE("the search keeps to limits and to hosts that are on") {
    LonelyWorld lonely({a_deployment("web", 1, "3", "1Gi")});
    lonely.world.run_for(5s);
    lonely.world.server.edit<NodeSmithPool>({kNodesNamespace, "general"},
                                            [](NodeSmithPool& pool) { pool.spec.limits.cpuCores = 3; });
    CHECK_FALSE(lonely.help_for("web"));
    lonely.world.server.edit<NodeSmithPool>({kNodesNamespace, "general"},
                                            [](NodeSmithPool& pool) { pool.spec.limits.cpuCores = 4; });
    CHECK(lonely.help_for("web"));
    auto& cluster = lonely.world.proxmox.cluster();
    for (const auto& host : cluster.world.hosts) cluster.power_off_host(host.name);
    CHECK_FALSE(lonely.help_for("web"));
}

TEST_CASE("the search gives no turn to a claim whose machine a person has to find") {
    LonelyWorld lonely({a_deployment("web", 1, "3", "1Gi")});
    lonely.world.run_for(5s);
    lonely.world.server.edit<NodeSmithPool>({kNodesNamespace, "general"},
                                            [](NodeSmithPool& pool) { pool.spec.scaleUp.maxConcurrent = 1; });
    NodeSmithClaim claim;
    claim.metadata.namespace_ = kNodesNamespace;
    claim.metadata.name = "general-lost";
    claim.spec.poolRef = "general";
    claim.spec.requirements = {2, 2048};
    lonely.world.server.put(claim);
    CHECK_FALSE(lonely.help_for("web"));
    CHECK(is_on_its_way(claim));
    claim.status.conditions = {{std::string(api::conditions::kLaunched),
                                api::ConditionStatus::False,
                                {},
                                {},
                                "MachineNotShown",
                                ""}};
    lonely.world.server.put(claim);
    CHECK(lonely.help_for("web"));
    CHECK_FALSE(is_on_its_way(claim));
}

TEST_CASE("the simulated scheduler spreads pods as hard constraints say, and counts host ports") {
    auto spread = a_deployment("spread", 4, "100m", "64Mi");
    spread.pod.spec.topologySpreadConstraints = {spread_over_nodes("spread")};
    auto ports = a_deployment("ports", 3, "100m", "64Mi");
    (*ports.pod.spec.containers).front().ports = {{8080, 8080, "", "TCP"}};
    LonelyWorld lonely({spread, ports});
    lonely.join("a");
    lonely.join("b");
    lonely.world.run_for(2min);
    CHECK(lonely.pods_on("a") == 3);
    CHECK(lonely.pods_on("b") == 3);
}

TEST_CASE("the simulated scheduler gives no node more ephemeral storage than its disk has") {
    auto files = a_deployment("files", 3, "100m", "64Mi");
    (*files.pod.spec.containers).front().resources.limits = {
        {"ephemeral-storage", api::Quantity::parse("15Gi")}};
    LonelyWorld lonely({files});
    lonely.join("a");
    lonely.world.run_for(2min);
    CHECK(lonely.pods_on("a") == 2);
}

TEST_CASE("manifests are read as they stand, and a kustomization's later files lie over the earlier") {
    const auto readme = read_manifests({"README.md"});
    REQUIRE(readme.pools.size() == 1);
    CHECK(readme.providers.size() == 1);
    CHECK(readme.pools.front().spec.limits.maxNodes == 10);
    CHECK_FALSE(readme.pools.front().spec.machineTemplate.flexible);
    const auto demo = read_manifests({"samples/homelab/pool.yaml", "samples/demo/pool.yaml"});
    REQUIRE(demo.pools.size() == 1);
    CHECK(demo.pools.front().spec.limits.maxNodes == 5);
    CHECK(demo.pools.front().spec.scaleDown.maxConcurrent == 5);
    const auto burst = read_manifests({"samples/workloads/burst.yaml"});
    REQUIRE(burst.deployments.size() == 1);
    CHECK(burst.deployments.front().replicas == 10);
}
