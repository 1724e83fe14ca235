// Tests launches against an API server in memory and in virtual time.
#include "controllers/claim/facts/template_hash.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace std::chrono_literals;
using objects::NodeSmithClaim;
using objects::NodeSmithPool;
using World = test::ProvisioningWorld;

TEST_CASE("R8: a pod without any selector gets a claim that names it") {
    World world;
    const auto pod = world.put_pending_pod("web");
    world.run_for(2s);
    const auto claims = world.claims();
    REQUIRE(claims.size() == 1);
    CHECK(claims[0].spec.requirements.cpuCores >= 1);
    CHECK(controllers::provisioning::launched_for(claims[0]) == std::vector<std::string>{pod.metadata.uid});
    CHECK(world.events.count("Created: a machine with") == 1);
    CHECK(world.events.count("ClaimCreated: a node is being created for the pod: NodeSmithClaim default/") >
          0);
    CHECK(world.events.count("for pod default/web") == 1);
    CHECK(world.pool().status.reserved.nodes == 1);
    CHECK(world.pool().status.lastScaleUpTime);
}

TEST_CASE("R17: a claim is created at the moment the batching window closes, nothing polls") {
    World world;
    world.put_pending_pod("web");
    world.run_for(999ms);
    CHECK(world.claims().empty());
    world.run_for(2ms);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a burst of pods becomes one decision, no later than the window's maximum") {
    auto pool = objects::pool("small");
    pool.spec.machineTemplate.sizes = {{"large", 16, 65536}};
    World world(pool);
    for (int i = 0; i < 24; ++i) {
        world.put_pending_pod("pod-" + std::to_string(i), "600m");
        world.run_for(500ms);
        // The window opened with the first pod, and closed 10 s later with the 20 pods of that time.
        if (i < 19) CHECK(world.claims().empty());
        if (i > 19) CHECK(world.claims().size() == 1);
    }
    REQUIRE(world.claims().size() == 1);
    CHECK(controllers::provisioning::launched_for(world.claims()[0]).size() == 20);
    world.run_for(2s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a pod whose claim is being created gets no second one") {
    World world;
    world.put_pending_pod("web");
    world.run_for(2s);
    world.put_pending_pod("other", "100m", "64Mi");  // fits beside the first pod
    world.run_for(5min);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a pod that is no demand launches nothing") {
    World world;
    world.put_pending(test::a_pod("daemon").requesting("1", "1Gi").owner("DaemonSet"));
    world.run_for(10s);
    CHECK(world.claims().empty());
}

TEST_CASE("R5: failed and leaving claims are no capacity to wait for") {
    World world;
    world.put_pending_pod("web");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    SECTION("failed") {
        world.fail(world.claims()[0]);
    }
    SECTION("leaving") {
        world.server.remove<NodeSmithClaim>(api::key_of(world.claims()[0]));
    }
    world.run_for(30s);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("R6: a machine is launched large enough for its pods beside the DaemonSets and the system's part") {
    World world;
    api::DaemonSet agent;
    agent.metadata.name = "agent";
    agent.metadata.namespace_ = "kube-system";
    agent.spec.template_.spec = test::a_pod("agent").requesting("200m", "300Mi").pod.spec;
    world.server.put(agent);
    world.put_pending_pod("web", "4", "4Gi");
    world.run_for(3s);
    REQUIRE(world.claims().size() == 1);
    // The sum is 4 + 0.2 + 0.1 CPUs and 4096 + 300 + 256 MiB, in steps of 512.
    CHECK(world.claims()[0].spec.requirements == api::v1alpha1::Size{5, 5120});
}

TEST_CASE("R6: the system reserve that the pool's Nodes showed counts for the next launch") {
    auto pool = objects::pool("small");
    const auto provider = objects::provider("proxmox");
    pool.status.learnedReserved = api::v1alpha1::SystemReserved{500, 1024};
    pool.status.learnedTemplateHash = controllers::claim::template_hash(pool, &provider);
    World world(pool);
    world.put_pending_pod("web", "3600m", "3200Mi");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    CHECK(world.claims()[0].spec.requirements == api::v1alpha1::Size{5, 4608});
}

TEST_CASE("R9: three machines needed and two allowed: two are launched, and the limit is named") {
    auto pool = World::fixed_size_pool();
    pool.spec.limits.maxNodes = 2;
    World world(pool);
    world.put_pending_pods(3);
    world.run_for(3s);
    CHECK(world.claims().size() == 2);
    CHECK(world.events.count("NodeSmithPool small ScaleUpBlocked: limits.maxNodes of pool small") == 1);
    CHECK(world.events.count("NoNodeForPod") == 1);
}

TEST_CASE("R10: a limit that stays reached causes no writes and no Events") {
    auto pool = World::fixed_size_pool();
    pool.spec.limits.maxNodes = 1;
    World world(pool);
    world.put_pending_pods(3);
    world.run_for(10s);
    world.join_all();
    world.bind("pod-0", world.claims()[0].metadata.name);
    world.run_for(2min);
    const auto writes = world.writes();
    const auto events = world.events.lines.size();
    world.run_for(1h);
    CHECK(world.writes() == writes);
    CHECK(world.events.lines.size() == events);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("cpu and memory limits bound launches, and a raised limit is used immediately") {
    auto pool = World::fixed_size_pool();
    pool.spec.limits.memoryMiB = 8192;
    World world(pool);
    world.put_pending_pods(4);
    world.run_for(3s);
    CHECK(world.claims().size() == 2);
    world.server.edit<NodeSmithPool>({"default", "small"}, [](auto& p) { p.spec.limits.memoryMiB = 12288; });
    world.run_for(3s);
    CHECK(world.claims().size() == 3);
}

TEST_CASE("the limits of the control plane hold over its pools") {
    auto pool = World::fixed_size_pool();
    World world(pool);
    auto second = World::fixed_size_pool();
    second.metadata.name = "second";
    world.server.put(second);
    world.server.edit<objects::NodeSmithControlPlane>({"default", "main"},
                                                      [](auto& c) { c.spec.limits.maxNodes = 3; });
    world.run_for(3s);
    world.put_pending_pods(6);
    world.run_for(30s);
    CHECK(world.claims("small").size() + world.claims("second").size() == 3);
    CHECK(world.server.get<objects::NodeSmithControlPlane>({"default", "main"})->status.reserved.nodes == 3);
}

TEST_CASE("room that comes back to the control plane's limits is used at once") {
    World world(World::fixed_size_pool());
    world.server.edit<objects::NodeSmithControlPlane>({"default", "main"}, [](auto& c) {
        c.spec.limits.maxNodes = 1;
        c.status.reserved = {1, 4, 8192, objects::kStart};
    });
    world.run_for(3s);
    world.put_pending_pods(1);
    world.run_for(30s);
    CHECK(world.claims().empty());
    world.server.edit<objects::NodeSmithControlPlane>({"default", "main"},
                                                      [](auto& c) { c.status.reserved = {}; });
    world.run_for(3s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("R14: minNodes are created without any demand") {
    auto pool = objects::pool("small");
    pool.spec.limits.minNodes = 2;
    World world(pool);
    world.run_for(3s);
    CHECK(world.claims().size() == 2);
    world.run_for(1h);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("while the certificate of a machine is refused, its pool makes no machine after machine") {
    auto pool = World::fixed_size_pool();
    pool.spec.limits.minNodes = 1;
    World world(pool);
    world.run_for(3s);
    REQUIRE(world.claims().size() == 1);
    const auto key = api::key_of(world.claims()[0]);
    world.server.edit<objects::NodeSmithClaim>(key, [](auto& claim) {
        auto& all = claim.status.conditions;
        objects::set_condition(all, api::conditions::kLaunched, api::ConditionStatus::True);
        objects::set_condition(all, api::conditions::kRegistered, api::ConditionStatus::False,
                               objects::kStart, "RequestRefused");
        all.back().message = "the request for the kubelet's first certificate cannot be approved";
        REQUIRE(all.back().type == api::conditions::kRegistered);
    });
    world.put_pending_pod("web");
    world.run_for(2h);
    CHECK(world.claims().size() == 1);
    SECTION("once it is approved, pods are served") {
        world.server.edit<objects::NodeSmithClaim>(key, [](auto& claim) {
            objects::set_condition(claim.status.conditions, api::conditions::kRegistered,
                                   api::ConditionStatus::False, objects::kStart, "NodeNotFound");
        });
        world.join(world.claims()[0]);
        world.put_pending_pods(2);
        world.run_for(2min);
        CHECK(world.claims().size() > 1);
    }
    SECTION("who deletes the claim lets the pool try again") {
        world.server.edit<objects::NodeSmithClaim>(key,
                                                   [](auto& claim) { claim.metadata.finalizers->clear(); });
        world.server.remove<objects::NodeSmithClaim>(key);
        world.run_for(2min);
        CHECK(world.claims().size() == 1);
        CHECK(api::key_of(world.claims()[0]) != key);
    }
}

TEST_CASE("headroom is launched ahead of demand, and again when pods have taken it") {
    auto pool = World::fixed_size_pool();
    pool.spec.scaleUp.headroom.nodes = 1;
    World world(pool);
    world.run_for(3s);
    REQUIRE(world.claims().size() == 1);
    world.join_all();
    world.put_pending_pod("web");
    world.bind("web", world.claims()[0].metadata.name);
    world.run_for(5s);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("R15: a second launch waits for scaleUp.stabilizationWindow and then happens by itself") {
    auto pool = World::fixed_size_pool();
    pool.spec.scaleUp.stabilizationWindow = 2min;
    World world(pool);
    world.put_pending_pod("first", "1500m");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    world.put_pending_pod("second", "1500m");
    world.run_for(100s);
    CHECK(world.claims().size() == 1);
    world.run_for(25s);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("batch size and concurrency slow a large launch down") {
    auto pool = World::fixed_size_pool();
    pool.spec.scaleUp.maxConcurrent = 2;
    World world(pool);
    world.put_pending_pods(5);
    world.run_for(1min);
    REQUIRE(world.claims().size() == 2);
    world.join_all();
    world.run_for(1min);
    CHECK(world.claims().size() == 4);
}

TEST_CASE("claims that fail back their pool off, up to three for the same pod within an hour") {
    World world;
    world.put_pending_pod("web");
    std::size_t failed = 0;
    for (int minute = 0; minute < 55; ++minute) {
        world.run_for(1min);
        for (const auto& claim : world.claims())
            if (!api::is_true(claim.status.conditions, "Failed")) {
                world.fail(claim);
                ++failed;
            }
    }
    CHECK(failed == 3);
    CHECK(world.events.count("3 machines were created for it within an hour") == 1);
}

TEST_CASE("a pod of a leaving node for which enough was launched takes no other pod's machine") {
    World world;
    const auto bound = world.put_pending_pod("bound");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    world.join_all();
    world.bind("bound", world.claims()[0].metadata.name);
    world.server.edit<NodeSmithPool>({"default", "small"}, [&](auto& pool) {
        std::string past;
        for (const auto* claim : {"x", "y"})
            past += std::string(past.empty() ? "" : ",") + R"({"claim":")" + claim + R"(","time":")" +
                    api::Time(world.clock.wall_now()).str() + R"(","pods":[")" + bound.metadata.uid +
                    R"("]})";
        pool.metadata.annotations["kubenodesmith.io/past-launches"] = "[" + past + "]";
    });
    world.run_for(2s);
    world.server.remove<NodeSmithClaim>(api::key_of(world.claims()[0]));
    const auto waiting = world.put_pending_pod("web");
    world.run_for(30s);  // the pool creates again a moment after somebody deleted a claim
    REQUIRE(world.claims().size() == 2);
    std::vector<std::string> served;
    for (const auto& claim : world.claims())
        if (!claim.metadata.deletionTimestamp) served = controllers::provisioning::launched_for(claim);
    CHECK(served == std::vector<std::string>{waiting.metadata.uid});
}

TEST_CASE("a pod that its new node did not help gets no other machine for ten minutes") {
    World world;
    world.put_pending_pod("web");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    world.join_all();
    world.run_for(58s);
    CHECK(world.events.count("PredictionFailed") == 0);
    world.run_for(10s);
    CHECK(world.events.count("Pod web PredictionFailed") == 1);
    REQUIRE(world.pool().status.mispredictions.size() == 1);

    // The empty node is removed, and the pod still waits.
    world.server.remove<NodeSmithClaim>(api::key_of(world.claims()[0]));
    world.finish_deletions();
    world.run_for(8min);
    CHECK(world.claims().empty());
    world.run_for(3min);
    CHECK(world.claims().size() == 1);

    // The pod runs after all.
    world.join_all();
    world.bind("web", world.claims()[0].metadata.name);
    world.run_for(1min);
    CHECK(world.pool().status.mispredictions.empty());
}

TEST_CASE("mode Observe says what would be launched, and writes nothing") {
    World world(World::fixed_size_pool());
    world.server.edit<objects::NodeSmithControlPlane>(
        {"default", "main"}, [](auto& c) { c.spec.mode = api::v1alpha1::Mode::Observe; });
    world.run_for(3s);
    const auto writes = world.writes();
    world.put_pending_pods(2);
    world.run_for(10min);
    CHECK(world.claims().empty());
    CHECK(world.writes() == writes);
    CHECK(world.events.count("WouldCreate: would create 2 claims") == 1);
    CHECK(
        world.events.count("ObserveOnly: a machine of pool small would be created for the pod, if spec.mode "
                           "of control plane main were Active") == 2);
}

TEST_CASE("a pod is told why the provider is not Ready, also when that becomes known later") {
    World world;
    const auto say = [&](const std::string& reason, const std::string& message) {
        world.server.edit<objects::NodeSmithProvider>({"default", "proxmox"}, [&](auto& provider) {
            provider.status.conditions = {
                {"Ready", api::ConditionStatus::False, std::nullopt, objects::kStart, reason, message}};
        });
    };
    say("NotReconciled", "not asked yet");
    world.run_for(3s);
    world.put_pending_pod("web");
    world.run_for(10s);
    say("AuthenticationFailed", "check PROXMOX_SECRET");
    world.run_for(10s);
    CHECK(world.events.count("its provider proxmox is not Ready: not asked yet") == 1);
    CHECK(world.events.count("its provider proxmox is not Ready: check PROXMOX_SECRET") == 1);
}

TEST_CASE("a pool that no control plane lists launches nothing, and the pod's Event says so") {
    World world;
    world.server.edit<objects::NodeSmithControlPlane>({"default", "main"},
                                                      [](auto& c) { c.spec.pools = {"other"}; });
    world.run_for(3s);
    world.put_pending_pod("web");
    world.run_for(10s);
    CHECK(world.claims().empty());
    CHECK(world.events.count("is listed by no NodeSmithControlPlane") == 1);
}

TEST_CASE("nothing is created by a process that may no longer lead") {
    World world;
    world.may_mutate = false;
    world.put_pending_pod("web");
    world.run_for(10s);
    CHECK(world.claims().empty());
    world.may_mutate = true;
    world.run_for(60s);
    CHECK(world.claims().size() == 1);
    CHECK(world.pool().status.reserved.nodes == 1);
}
