// Tests claims from their request to their removal, with the reconciler against a cluster and a cloud in
// memory.
#include "controllers/provisioning/past_launches.hpp"
#include "test/support/catch.hpp"
#include "test/support/pods.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace {

using namespace claims;
using builders::a_budget;
using builders::a_pod;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

// Reports whether one claim of the process went through the stage.
bool counts(Process& process, const std::string& stage) {
    const auto line =
        R"(stage_duration_seconds_count{namespace="default",pool="p",provider="proxmox",stage=")" + stage +
        "\"} 1\n";
    return process.metrics().exposition().find(line) != std::string::npos;
}

TEST_CASE("a claim becomes a Ready Node with everything that is known about it, and then it is quiet") {
    World world;
    world.server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
        pool.spec.machineTemplate.labels["rack"] = "{{ .Host }}";
    });
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    const auto claim = *world.claim();
    CHECK(claim.status.phase == api::v1alpha1::ClaimPhase::Ready);
    CHECK(claim.status.nodeName == "c");
    CHECK(claim.status.host == "host-a");
    CHECK(claim.status.zone == "zone-a");
    CHECK(claim.status.size == "2c/4Gi");
    CHECK(claim.status.providerID == "fake://cloud/100");
    CHECK(claim.status.allocatable.at("cpu") == api::Quantity::of(2));
    const auto node = *world.server.get<api::Node>({"", "c"});
    CHECK(node.spec.providerID == "fake://cloud/100");
    CHECK(node.metadata.labels->at("kubenodesmith.io/nodeclaim") == "c");
    CHECK(node.metadata.labels->at("topology.kubenodesmith.io/pool") == "p");
    CHECK(node.metadata.labels->at("rack") == "host-a");
    CHECK(world.cloud.created() == 1);
    for (const auto* stage : {"launch", "registration", "initialization"}) CHECK(counts(process, stage));

    world.run(1min);
    const auto writes = world.server.writes().size();
    world.run(1h);
    CHECK(world.server.writes().size() == writes);
}

// The operator nominates the Node for its pods as soon as the claim has recorded it.
TEST_CASE("a Node is opened to pods when its claim has noted it, not before") {
    World world;
    world.machines_join = false;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until(
        [&] { return api::is_true(world.claim()->status.conditions, conditions::kLaunched); }));
    const auto is_closed = [&world] {
        const auto node = world.server.get<api::Node>({"", "c"});
        return api::find_taint(node->spec.taints, api::taints::kUnregistered, api::taints::kNoExecute) !=
               nullptr;
    };
    bool was_noted = false;
    bool was_opened_before = false;
    auto node = objects::node("c");
    node.status.nodeInfo.systemUUID = world.cloud.machines.begin()->second.identity.system_uuid;
    node.spec.taints.push_back({std::string(api::taints::kUnregistered), "", "NoExecute", {}});
    world.server.put(node);
    world.server.observe([&](const auto&) {
        was_noted = was_noted || !world.claim()->status.nodeName.empty();
        was_opened_before = was_opened_before || (!is_closed() && !was_noted);
    });
    REQUIRE(world.run_until([&] { return world.ready(); }));
    CHECK_FALSE(is_closed());
    CHECK_FALSE(was_opened_before);
}

TEST_CASE("a pool remembers for an hour for which waiting pods a deleted claim was created") {
    World world;
    Process process(world);
    const auto uid = world.server.put<api::Pod>(a_pod("web")).metadata.uid;
    const auto remembered = [&] {
        return controllers::provisioning::past_launches(*world.server.get<NodeSmithPool>({"default", "p"}));
    };
    const auto launch_in_vain = [&](std::chrono::minutes lives) {
        const auto claim = world.launch();
        world.server.edit<NodeSmithClaim>(kClaim, [&uid](NodeSmithClaim& edited) {
            edited.metadata.annotations["kubenodesmith.io/launched-for"] = uid + ",of-a-pod-that-is-gone";
        });
        world.run(lives);
        world.server.remove<NodeSmithClaim>(kClaim);
        REQUIRE(world.run_until([&] { return world.gone(); }));
        return claim.metadata.uid;
    };
    const auto first = launch_in_vain(10min);
    REQUIRE(remembered().size() == 1);
    CHECK(remembered()[0].claim_uid == first);
    CHECK(remembered()[0].pod_uids == std::vector<std::string>{uid});
    launch_in_vain(70min);
    CHECK(remembered().size() == 1);
    const auto third = launch_in_vain(1min);
    REQUIRE(remembered().size() == 1);
    CHECK(remembered()[0].claim_uid == third);
}

TEST_CASE("a pool remembers for an hour each claim that is gone while a rate counts creations") {
    World world;
    world.server.edit<api::v1alpha1::NodeSmithControlPlane>(
        {"default", "main"}, [](auto& manager) { manager.spec.rateLimits.maxCreationsPerHour = 5; });
    Process process(world);
    const auto pool = world.server.get<NodeSmithPool>({"default", "p"}).value();
    const auto launched = objects::created_claim("c", pool, 1);
    world.server.put(launched);
    REQUIRE(world.run_until([&] { return world.ready(); }));
    SECTION("the claim is deleted") {}
    SECTION("its pool is deleted, and other claims of it still drain") {
        world.server.edit<NodeSmithPool>({"default", "p"}, [](auto& edited) {
            edited.metadata.finalizers = {std::string(api::finalizers::kPool)};
        });
        world.server.remove<NodeSmithPool>({"default", "p"});
    }
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return world.gone(); }));
    const auto after = world.server.get<NodeSmithPool>({"default", "p"}).value();
    const auto remembered = controllers::provisioning::past_launches(after);
    REQUIRE(remembered.size() == 1);
    CHECK(remembered.front().pod_uids.empty());
    const api::Time now(world.clock.wall_now());
    CHECK(controllers::provisioning::creations_last_hour(after, {}, now) == 1);
}

TEST_CASE("a deleted claim takes its pods elsewhere, then its machine, Node and itself away") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.server.put<api::Pod>(a_pod("web").on("c"));
    world.server.put(a_budget("web"));

    world.server.remove<NodeSmithClaim>(kClaim);
    world.run(10min);
    CHECK(world.reason(conditions::kDrained) == "BlockedByBudget");
    CHECK(world.cloud.machines.size() == 1);
    const auto node = *world.server.get<api::Node>({"", "c"});
    CHECK(api::find_taint(node.spec.taints, "kubenodesmith.io/disrupted", "NoSchedule"));
    CHECK_FALSE(node.spec.unschedulable);

    world.server.edit<api::PodDisruptionBudget>({"default", "web"},
                                                [](auto& changed) { changed.status.disruptionsAllowed = 1; });
    REQUIRE(world.run_until([&] { return world.gone(); }, 2min));
    CHECK_FALSE(world.server.get<api::Pod>({"default", "web"}));
    CHECK(world.clean());
    for (const auto* stage : {"drain", "removal"}) CHECK(counts(process, stage));
}

TEST_CASE("a claim says within a minute, once, that evictions fail, and goes on when they no longer do") {
    World world;
    struct Webhook final : fake::Interference {
        std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
            if (!is_down || !request.target.ends_with("/eviction")) return std::nullopt;
            return fake::status_response(500, "InternalError", "failed calling webhook: connection refused");
        }
        bool is_down = true;
    } webhook;
    Process process(world, &webhook, nullptr);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.server.put<api::Pod>(a_pod("web").on("c"));

    world.server.remove<NodeSmithClaim>(kClaim);
    world.run(1min);
    CHECK(world.reason(conditions::kDrained) == "EvictionFailed");
    world.run(30min);
    const auto told = std::ranges::count_if(
        world.events, [](const auto& event) { return event.starts_with("EvictionFailed: "); });
    CHECK(told == 1);
    CHECK(world.cloud.machines.size() == 1);

    webhook.is_down = false;
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
    CHECK(world.clean());
}

TEST_CASE("who deletes a claim is told which pods are evicted that something protects, once for each") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.server.put<api::Pod>(a_pod("bare").on("c"));
    world.server.put<api::Pod>(
        a_pod("batch").owner("ReplicaSet").annotate("kubenodesmith.io/do-not-disrupt", "true").on("c"));
    world.server.put<api::Pod>(a_pod("web").owner("ReplicaSet").on("c"));
    world.server.put(a_budget("web"));
    const auto told = [&world] {
        std::vector<std::string> found;
        for (const auto& event : world.events)
            if (event.starts_with("EvictingProtectedPod: ")) found.push_back(event);
        return found;
    };
    world.run(1min);
    CHECK(told().empty());
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return !told().empty(); }));
    CHECK(world.server.get<api::Pod>({"default", "batch"}));  // the Event comes before the eviction
    world.run(5min);
    REQUIRE(told().size() == 3);
    CHECK(told()[0] ==
          "EvictingProtectedPod: it is evicted although it has no controller that would create it again, "
          "because its node's claim c is being deleted");
    CHECK(told()[1].find("is annotated not to be disrupted") != std::string::npos);
    CHECK(told()[2].find("default/bare has no controller") != std::string::npos);
    CHECK(told()[2].find("default/batch is annotated") != std::string::npos);
    CHECK(told()[2].find("default/web") == std::string::npos);
}

TEST_CASE("a claim's terminationGracePeriod ends the waiting for budgets") {
    World world;
    Process process(world);
    auto claim = world.launch();
    world.server.edit<NodeSmithClaim>(kClaim,
                                      [](auto& c) { c.spec.terminationGracePeriod = api::Duration(5min); });
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.server.put<api::Pod>(a_pod("web").on("c"));
    world.server.put(a_budget("web"));
    world.server.remove<NodeSmithClaim>(kClaim);
    world.run(4min);
    CHECK(world.server.get<api::Pod>({"default", "web"}));
    REQUIRE(world.run_until([&] { return world.gone(); }, 2min));
    CHECK(world.clean());
}

TEST_CASE("R1: a machine that has not joined yet goes with its claim") {
    World world;
    world.machines_join = false;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.reason(conditions::kRegistered) == "NodeNotFound"; }));
    CHECK(world.cloud.machines.size() == 1);
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
    CHECK(world.clean());
}

TEST_CASE("R1: machines that never join are removed one by one, and the Failed claim is kept for an hour") {
    World world;
    world.machines_join = false;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until(
        [&] { return world.reason(conditions::kFailed) == "RegistrationTimeoutExceeded"; }, 2h));
    REQUIRE(world.run_until([&] { return world.cloud.machines.empty(); }, 1min));
    CHECK(world.cloud.created() == 3);
    CHECK(world.cloud.violations().empty());
    world.run(55min);
    CHECK_FALSE(world.gone());
    CHECK(world.run_until([&] { return world.gone(); }, 10min));
    CHECK(world.clean());
}

TEST_CASE("R2: machines of a deleted pool are removed, and no claim lets go before") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.server.remove<NodeSmithPool>({"default", "p"});
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
    CHECK(world.clean());
}

TEST_CASE("R2: a claim whose Provider is gone waits and says so, and goes on when it is back") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    const auto provider = *world.server.get<NodeSmithProvider>({"default", "proxmox"});
    world.server.remove<NodeSmithProvider>({"default", "proxmox"});
    world.server.remove<NodeSmithClaim>(kClaim);
    world.run(10min);
    CHECK(world.reason(conditions::kMachineDeleted) == "ProviderMissing");
    CHECK(world.cloud.machines.size() == 1);
    world.server.edit<NodeSmithClaim>(
        kClaim, [](auto& claim) { claim.metadata.annotations["kubenodesmith.io/machine-gone"] = "true"; });
    REQUIRE(world.run_until([&] { return world.gone(); }, 2min));
}

TEST_CASE("R3: provider errors keep the claim until its machine is verified gone") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    for (int i = 0; i < 3; ++i) {
        world.cloud.next_remove.push_back(
            providers::RemovalBlocked{"Locked", "VM 100 is locked by a backup"});
    }
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return world.reason(conditions::kMachineDeleted) == "Locked"; }, 1min));
    CHECK(world.cloud.machines.size() == 1);
    REQUIRE(world.run_until([&] { return world.gone(); }, 5min));
    CHECK(world.clean());
}

TEST_CASE("R4: a provider that is away for a while costs no attempt") {
    World world;
    Process process(world);
    for (int i = 0; i < 5; ++i) world.cloud.next_ensure.push_back(providers::NotReady{"connection refused"});
    world.launch();
    world.run(5s);
    CHECK(world.reason(conditions::kLaunched) == "ProviderNotReady");
    REQUIRE(world.run_until([&] { return world.ready(); }, 5min));
    CHECK(world.claim()->status.launchAttempts == 1);
}

TEST_CASE("R4: failed attempts are apart by a growing pause") {
    World world;
    Process process(world);
    std::vector<base::TimePoint> starts;
    for (int i = 0; i < 3; ++i) {
        world.cloud.next_ensure.push_back(
            providers::AttemptFailed{"StorageFull", "storage local has 1 GiB free"});
    }
    world.launch();
    for (int attempt = 1; attempt <= 3; ++attempt) {
        REQUIRE(world.run_until([&] { return world.claim()->status.launchAttempts == attempt; }, 1min));
        starts.push_back(world.clock.now());
    }
    CHECK(starts[1] - starts[0] >= 9s);  // 10 s, but times in the API are whole seconds
    CHECK(starts[2] - starts[1] >= 19s);
    REQUIRE(
        world.run_until([&] { return world.reason(conditions::kFailed) == "LaunchAttemptsExceeded"; }, 1min));
    CHECK(world.claim()->status.lastFailure->message == "storage local has 1 GiB free");
    CHECK(world.cloud.created() == 0);
}

TEST_CASE("R11: what stood in the way is noticed when it is gone, nothing stalls for minutes") {
    World world;
    const auto provider = *world.server.get<NodeSmithProvider>({"default", "proxmox"});
    world.server.remove<NodeSmithProvider>({"default", "proxmox"});
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "ProviderMissing"; }, 10s));
    auto again = provider;
    again.metadata.uid.clear();
    world.server.put(again);
    CHECK(world.run_until([&] { return world.ready(); }, 30s));
}

TEST_CASE("R12: a process killed during a launch costs neither time nor an attempt") {
    World world;
    world.launch();
    {
        Process process(world);
        REQUIRE(world.run_until([&] { return !world.cloud.machines.empty(); }));
    }
    Process process(world);
    CHECK(world.run_until([&] { return world.ready(); }, 30s));
    CHECK(world.claim()->status.launchAttempts == 1);
    CHECK(world.cloud.created() == 1);
}

TEST_CASE("R13: a Node that joined while nobody looked is recognised and leaves with its claim") {
    World world;
    world.launch();
    {
        Process process(world);
        REQUIRE(world.run_until([&] { return !world.cloud.machines.empty(); }));
        world.cloud.start(world.cloud.machines.begin()->second);
    }
    world.run(1min);
    REQUIRE(world.server.get<api::Node>({"", "c"}));
    REQUIRE(world.reason(conditions::kLaunched) != "Launched");
    Process process(world);
    CHECK(world.run_until([&] { return world.ready(); }, 30s));
    world.server.remove<NodeSmithClaim>(kClaim);
    CHECK(world.run_until([&] { return world.gone(); }, 1min));
    CHECK(world.clean());
}

TEST_CASE("R13: a Node that only bears the claim's name is never touched, and no machine is made beside it") {
    World world;
    world.machines_join = false;
    auto stranger = objects::node("c");
    stranger.status.nodeInfo.systemUUID = "11111111-2222-3333-4444-555555555555";
    stranger = world.server.put(stranger);
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "NameTaken"; }, 1min));
    CHECK(world.cloud.created() == 0);
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
    CHECK(world.server.get<api::Node>({"", "c"}) == stranger);
    CHECK(world.cloud.machines.empty());
}

TEST_CASE("R16: a claim without requirements gets the smallest machine that its pool offers") {
    World world;
    world.server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
        pool.spec.machineTemplate.sizes = {{"small", 1, 2048}, {"large", 8, 16384}};
    });
    Process process(world);
    auto claim = objects::claim("c", *world.server.get<NodeSmithPool>({"default", "p"}), 0, 0);
    claim.metadata.uid.clear();
    world.server.put(claim);
    REQUIRE(world.run_until([&] { return world.ready(); }, 1min));
    CHECK(world.cloud.machines.begin()->second.cpu_cores == 1);
    CHECK(world.cloud.machines.begin()->second.memory_mib == 2048);
}

TEST_CASE("claims that are placed at the same moment get different machines") {
    World world;
    Process process(world);
    for (const char* name : {"a", "b", "c", "d"}) world.launch(name);
    REQUIRE(world.run_until(
        [&] { return world.ready("a") && world.ready("b") && world.ready() && world.ready("d"); }));
    CHECK(world.cloud.machines.size() == 4);
    for (const char* name : {"a", "b", "c", "d"}) CHECK(world.claim(name)->status.launchAttempts == 1);
}

}  // namespace
