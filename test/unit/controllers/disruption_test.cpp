// Tests nodes that must be removed (drift, expiry, evacuation and repair), against an API server in memory
// and in virtual time.
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"

using namespace std::chrono_literals;
using Launching = test::DisruptionWorld::Launching;
using World = test::DisruptionWorld;

// ---- drift and expiry

TEST_CASE("a drifted node is replaced first and drained afterwards") {
    World world({"a"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    world.machines_join = false;
    world.made_from("a", "3-another template");
    world.live(30s);
    CHECK(world.disrupted("a") == "True Drifted");
    CHECK(world.condition("a", "Drifted") == "True Drifted");
    CHECK(world.is_tainted("a"));
    CHECK(world.claims().size() == 2);
    CHECK(world.place_of("one") == "a");
    world.live(5min);
    CHECK(world.claims().size() == 2);
    CHECK(world.place_of("one") == "a");
    world.machines_join = true;
    world.live(1min);
    CHECK_FALSE(world.find("a"));
    REQUIRE(world.claims().size() == 1);
    CHECK(world.place_of("one") == world.claims()[0].metadata.name);
}

TEST_CASE("a claim that a person wants replaced is, whatever is said of drift, and so is the next one") {
    World world({"a"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    world.edit_pool([](auto& pool) { pool.spec.disruption.drift = api::v1alpha1::DriftPolicy::Ignore; });
    const auto ask = [&world](const std::string& claim, const std::string& value) {
        world.server.edit<objects::NodeSmithClaim>({"default", claim}, [&value](auto& asked) {
            asked.metadata.annotations["kubenodesmith.io/replace"] = value;
        });
    };
    ask("a", "first");
    world.live(2min);
    CHECK_FALSE(world.find("a"));
    REQUIRE(world.claims().size() == 1);
    const auto second = world.claims()[0].metadata.name;
    CHECK(world.place_of("one") == second);
    ask(second, "second");
    world.live(2min);
    CHECK_FALSE(world.find(second));
    REQUIRE(world.claims().size() == 1);
    CHECK(world.place_of("one") == world.claims()[0].metadata.name);
}

TEST_CASE("a replacement that does not come in time leaves the node in service") {
    World world({"a"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    world.machines_join = false;
    world.made_from("a", "3-another template");
    world.edit_pool([](auto& pool) {
        pool.spec.scaleUp.provisionTimeout = pool.spec.scaleUp.registrationTimeout = 1min;
        pool.spec.scaleUp.initializationTimeout = 1min;
    });
    world.live(4min);
    CHECK(world.disrupted("a") == "False ReplacementTimeout");
    CHECK_FALSE(world.is_tainted("a"));
    CHECK(world.place_of("one") == "a");
}

TEST_CASE("without room for one more within the limits a drifted node is drained first, which is said") {
    World world({"a"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    world.edit_pool([](auto& pool) { pool.spec.limits.maxNodes = 1; });
    world.made_from("a", "3-another template");
    world.live(5min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.events.count("DrainsFirst") == 1);
    REQUIRE(world.claims().size() == 1);
    CHECK(world.place_of("one") == world.claims()[0].metadata.name);
}

// Otherwise the removal would be undone, the machine removed as empty, and the same would repeat.
TEST_CASE("a pool that is closed for a while after launches for minNodes does not keep a drifted node") {
    World world({"a"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    world.edit_pool([](auto& pool) {
        pool.spec.limits.minNodes = 1;
        pool.spec.limits.cpuCores = 6;
        pool.spec.machineTemplate.sizes = {{"s", 1, 2048}, {"m", 4, 8192}};
        pool.spec.scaleUp.stabilizationWindow = 1min;
    });
    world.made_from("a", "3-another template");
    world.live(30min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.events.count("RemovalUndone") == 0);
    REQUIRE(world.claims().size() == 1);
    CHECK(world.place_of("one") == world.claims()[0].metadata.name);
    CHECK(world.events.count("Created: a machine") == 2);
}

TEST_CASE("nodes that are too old go one after the other, within the budget") {
    World world({"a", "b", "c"}, Launching::on, 4);
    for (const auto* node : {"a", "b", "c"}) world.put_running_pod(std::string("on-") + node, node, "2500m");
    world.edit_pool([](auto& pool) {
        pool.spec.disruption.expireAfter.duration = 10min;
        pool.spec.disruption.budgets = {{1, {}, "", {}}};
        pool.spec.scaleDown.maxConcurrent = 3;
    });
    world.live(9min);
    CHECK(world.claims().size() == 3);
    for (int i = 0; i < 300; ++i) {
        world.live(1s);
        std::size_t leaving = 0;
        for (const auto& claim : world.claims())
            leaving += controllers::disruption::under_way(claim) || claim.metadata.deletionTimestamp;
        REQUIRE(leaving <= 1);
    }
    CHECK_FALSE(world.find("a"));
    CHECK_FALSE(world.find("b"));
    CHECK_FALSE(world.find("c"));
    CHECK(world.claims().size() == 3);
}

// ---- evacuation

TEST_CASE("nodes on a host that is being evacuated are replaced on another one") {
    World world({"a"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    world.server.edit<objects::NodeSmithClaim>({"default", "a"},
                                               [](auto& claim) { claim.status.host = "pve1"; });
    world.server.edit<api::Node>({"", "a"},
                                 [](auto& node) { node.metadata.labels["kubenodesmith.io/host"] = "pve1"; });
    // The operator had considered the node for another reason, without result.
    world.replicas.clear();
    world.edit_pool([](auto& pool) { pool.spec.scaleUp.headroom.nodes = 1; });
    world.server.remove<api::Pod>({"default", "one"}, 0);
    world.live(2min);
    REQUIRE(world.disrupted("a").empty());
    world.edit_pool([](auto& pool) { pool.spec.scaleUp.headroom.nodes = 0; });
    world.put_running_pod("one", "a", "2500m");
    world.server.edit<objects::NodeSmithProvider>({"default", "proxmox"}, [](auto& provider) {
        auto other = provider.status.hosts[0];
        other.name = "pve2";
        provider.status.hosts[0].online = false;
        provider.status.hosts[0].evacuating = true;
        provider.status.hosts.push_back(other);
    });
    world.live(2min);
    CHECK_FALSE(world.find("a"));
    REQUIRE(world.claims().size() == 1);
    CHECK(world.place_of("one") == world.claims()[0].metadata.name);
}

// ---- repair

TEST_CASE("a node that is not Ready for long is replaced, without asking its pods' wishes") {
    World world({"a", "b", "c"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    world.server.edit<api::Pod>({"default", "one"}, [](auto& pod) {
        pod.metadata.annotations["kubenodesmith.io/do-not-disrupt"] = "true";
    });
    world.edit_pool([](auto& pool) { pool.spec.limits.minNodes = 3; });
    world.set_ready("a", false);
    world.live(9min);
    CHECK(world.disrupted("a").empty());
    world.live(3min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.claims().size() == 3);
    CHECK(world.events.count("Node a Disrupting: Unhealthy: the node has not been Ready since") == 1);
}

TEST_CASE("a node whose machine is switched off is replaced without waiting for notReadyFor") {
    World world({"a", "b", "c"}, Launching::on, 4);
    world.edit_pool([](auto& pool) { pool.spec.limits.minNodes = 3; });
    world.machine("a").state = providers::MachineState::stopped;
    world.set_ready("a", false);
    world.live(3min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.claims().size() == 3);
    CHECK(world.events.count("Disrupting: Unhealthy: the node's machine is switched off") == 1);
}

TEST_CASE("a repair that an earlier leader began goes on until the Node is Ready") {
    World world({"a", "b", "c"}, Launching::on, 4);
    world.edit_pool([](auto& pool) { pool.spec.limits.minNodes = 3; });
    world.machine("a").state = providers::MachineState::stopped;
    world.set_ready("a", false);
    world.server.edit<objects::NodeSmithClaim>({"default", "a"}, [&](objects::NodeSmithClaim& claim) {
        controllers::claim::set(claim.status, api::conditions::kDisrupted, api::ConditionStatus::True,
                                api::reasons::kUnhealthy, "", api::Time(world.clock.wall_now()));
    });
    const bool recovers = GENERATE(true, false);
    if (recovers) world.set_ready("a", true);
    world.live(3min);
    CHECK(world.find("a").has_value() == recovers);
    CHECK(world.events.count("RemovalUndone") == (recovers ? 1 : 0));
}

TEST_CASE("when many nodes are not Ready at once none is repaired") {
    World world({"a", "b", "c"}, Launching::on, 4);
    for (const auto* name : {"a", "b"}) world.set_ready(name, false);
    world.live(30min);
    CHECK(world.find("a"));
    CHECK(world.find("b"));
    CHECK(world.events.count("TooManyUnhealthy") == 0);
    CHECK(world.events.count("more than 20 % of the pool's nodes are not Ready") == 2);
}

// The control plane's status does not show this outage, so no change of it can trigger the repair.
TEST_CASE("a node is repaired when enough nodes of other pools are Ready again") {
    World world({"a", "b", "c", "d", "e"}, Launching::on, 4);
    auto other = objects::pool("other");
    world.server.put(other);
    for (const auto* name : {"f", "g", "h", "i"})
        world.join(world.server.put(objects::created_claim(name, world.pool("other"), 1)));
    for (const auto* name : {"a", "f", "g", "h", "i"}) world.set_ready(name, false);
    world.live(15min);
    CHECK(world.disrupted("a").empty());
    CHECK(world.events.count("Node a DisruptionBlocked: Unhealthy, but the node stays: too many nodes") == 1);
    for (const auto* name : {"f", "g", "h", "i"}) world.set_ready(name, true);
    world.live(5min);
    CHECK_FALSE(world.find("a"));
}

TEST_CASE("a node is switched off and on before it is replaced, if that is wanted") {
    World world({"a", "b", "c"}, Launching::on, 4);
    world.edit_pool([](auto& pool) {
        pool.spec.disruption.repair.action = api::v1alpha1::RepairAction::PowerCycleThenReplace;
        pool.spec.limits.minNodes = 3;
    });
    int boots = 0;
    world.cloud.on_boot = [&boots](const fake::CloudMachine& machine) {
        boots += machine.name == "a" ? 1 : 0;
    };
    world.set_ready("a", false);
    world.live(11min);
    for (const auto& condition : world.claim("a").status.conditions) UNSCOPED_INFO(condition.message);
    CHECK(boots == 1);
    CHECK(world.condition("a", "PowerCycled") == "True SwitchedOn");
    CHECK(world.disrupted("a").empty());
    SECTION("and stays if that helped") {
        world.set_ready("a", true);
        world.live(30min);
        CHECK(world.find("a"));
        CHECK(boots == 1);
    }
    SECTION("and is replaced if it did not") {
        world.live(12min);
        CHECK_FALSE(world.find("a"));
        CHECK(boots == 1);
    }
}

// The process that had decided to switch it off had died.
TEST_CASE("a node that is Ready again is not switched off any more") {
    World world;
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.policy = api::v1alpha1::ScaleDownPolicy::Never; });
    world.server.edit<objects::NodeSmithClaim>({"default", "a"}, [&world](objects::NodeSmithClaim& claim) {
        controllers::claim::set(claim.status, api::conditions::kPowerCycled, api::ConditionStatus::False,
                                "SwitchingOff", "", api::Time(world.clock.wall_now()));
    });
    world.live(5min);
    CHECK(world.machine("a").state == providers::MachineState::running);
    CHECK(world.condition("a", "PowerCycled").empty());
}

TEST_CASE("a node that comes back while its provider is asked is not switched off") {
    World world;
    struct NodeComesBack final : fake::ProviderCalls {
        explicit NodeComesBack(World& world) : world(world) {}
        void before(const std::string& method) override {
            if (method == "switch_power") world.set_ready("a", true);
        }
        World& world;
    } node_comes_back(world);
    world.provider_calls = &node_comes_back;
    world.edit_pool([](auto& pool) {
        pool.spec.scaleDown.policy = api::v1alpha1::ScaleDownPolicy::Never;
        pool.spec.disruption.repair.action = api::v1alpha1::RepairAction::PowerCycleThenReplace;
        pool.spec.disruption.repair.maxUnhealthyPercent = 100;
    });
    world.set_ready("a", false);
    world.live(30min);
    CHECK(world.events.count("PowerCycling") == 1);
    CHECK(world.machine("a").state == providers::MachineState::running);
    CHECK(world.condition("a", "PowerCycled").empty());
}

TEST_CASE("a machine that was switched off is switched on again, however many nodes are not Ready") {
    const std::string reason = GENERATE("SwitchingOn", "SwitchingOff");
    World world({"a", "b", "c", "d", "e"});
    const bool is_off = reason == "SwitchingOn";
    if (is_off) world.machine("a").state = providers::MachineState::stopped;
    int boots = 0;
    world.cloud.on_boot = [&boots](const fake::CloudMachine& machine) {
        boots += machine.name == "a" ? 1 : 0;
    };
    for (const auto* name : {"a", "b", "c", "d", "e"}) world.set_ready(name, false);
    world.server.edit<objects::NodeSmithClaim>({"default", "a"}, [&](objects::NodeSmithClaim& claim) {
        controllers::claim::set(claim.status, api::conditions::kPowerCycled, api::ConditionStatus::False,
                                reason, "", api::Time(world.clock.wall_now()));
    });
    world.live(1min);
    CHECK(world.machine("a").state == providers::MachineState::running);
    CHECK(boots == (is_off ? 1 : 0));
    CHECK(world.condition("a", "PowerCycled") == "True SwitchedOn");
}

// A machine that had been switched off, and whose claim was then deleted, is no longer provably ours.
TEST_CASE("a broken node whose removal cannot end keeps no other from being repaired") {
    const bool was_power_cycling = GENERATE(true, false);
    World world({"a", "b", "c", "d", "e"}, Launching::on, 4);
    world.edit_pool([](auto& pool) {
        pool.spec.disruption.repair.maxUnhealthyPercent = 40;
        pool.spec.disruption.budgets.resize(1);
        pool.spec.disruption.budgets[0].nodes = api::IntOrString("10%");
    });
    world.set_ready("a", false);
    world.server.edit<objects::NodeSmithClaim>({"default", "a"}, [&](objects::NodeSmithClaim& claim) {
        const api::Time now(world.clock.wall_now());
        auto& status = claim.status;
        if (was_power_cycling) {
            controllers::claim::set(status, api::conditions::kPowerCycled, api::ConditionStatus::False,
                                    "SwitchingOff", "", now);
        } else {
            controllers::claim::set(status, api::conditions::kDisrupted, api::ConditionStatus::True,
                                    api::reasons::kUnhealthy, "", now);
        }
        controllers::claim::set(status, api::conditions::kMachineDeleted, api::ConditionStatus::False,
                                "OwnershipMismatch", "", now);
        claim.metadata.finalizers = {"example.com/stuck"};
    });
    world.server.remove<objects::NodeSmithClaim>({"default", "a"});
    world.set_ready("b", false);
    world.live(15min);
    CHECK(world.find("a"));
    CHECK_FALSE(world.find("b"));
}

// ---- crashes

TEST_CASE("whatever request is the last to get through for a while, what was begun is ended") {
    const int last = GENERATE(range(1, 20));
    World world({"a", "b"}, Launching::on, 4);
    world.put_running_pod("one", "a");
    world.put_running_pod("two", "b");
    int left = last;
    bool is_dead = false;
    // The process also loses requests whose effect it never learns.
    world.requests.on_request = [&](const base::HttpRequest& request) {
        if (request.method != "GET" && is_dead) throw base::TransportError("cut off", false);
    };
    world.requests.on_effect = [&](const base::HttpRequest& request) {
        if (request.method == "GET" || --left > 0) return;
        is_dead = true;
        throw base::TransportError("cut off", true);
    };
    world.live(4min);
    world.requests.on_request = world.requests.on_effect = nullptr;
    world.live(10min);
    CHECK(world.claims().size() == 1);
    for (const auto& node : world.server.list<api::Node>()) CHECK(node.spec.taints.empty());
    CHECK_FALSE(world.place_of("one").empty());
    CHECK_FALSE(world.place_of("two").empty());
}

// ---- conditions that stay

TEST_CASE("a disruption whose reason has gone is undone") {
    World world({"a"}, Launching::on, 4);
    world.put_running_pod("one", "a", "2500m");
    world.machines_join = false;
    world.made_from("a", "3-another template");
    world.live(30s);
    REQUIRE(world.is_tainted("a"));
    world.made_from("a", "");
    world.live(30s);
    CHECK_FALSE(world.is_tainted("a"));
    CHECK(world.disrupted("a") == "False NoReason");
    CHECK(world.condition("a", "Drifted") == "False UpToDate");
}

TEST_CASE("why a node stays is known to those who ask") {
    World world({"a"}, Launching::on, 4);
    world.edit_pool([](auto& pool) { pool.spec.limits.minNodes = 1; });
    world.live(2min);
    const auto& stays = world.disruption.stays();
    REQUIRE(stays.contains("a"));
    CHECK(stays.at("a").blocker.reason == "MinNodes");
}
