// A claim for which no host has room stops no other launch, and is not repeated.
#include "controllers/claim/facts/template_hash.hpp"
#include "controllers/provisioning/expected_node.hpp"
#include "controllers/provisioning/facts/room.hpp"
#include "controllers/provisioning/machine_offer.hpp"
#include "controllers/state/learning.hpp"
#include "scheduling/machines/machine_sizes.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace std::chrono_literals;
using objects::NodeSmithClaim;
using objects::NodeSmithPool;
using objects::NodeSmithProvider;

namespace {

namespace conditions = api::conditions;

struct World : test::ProvisioningWorld {
    using test::ProvisioningWorld::ProvisioningWorld;

    // Makes the claim report that no host has room, as the claim reconciler does.
    void refuse_room(const NodeSmithClaim& claim) {
        server.edit<NodeSmithClaim>(api::key_of(claim), [&](NodeSmithClaim& edited) {
            edited.status.providerRef = "proxmox";
            edited.status.waitsForRoomSince = api::Time(clock.wall_now());
            objects::set_condition(edited.status.conditions, conditions::kLaunched,
                                   api::ConditionStatus::False, api::Time(clock.wall_now()),
                                   "InsufficientCapacity");
        });
    }
    void fail_for_room(const NodeSmithClaim& claim) {
        server.edit<NodeSmithClaim>(api::key_of(claim), [&](NodeSmithClaim& edited) {
            edited.status.providerRef = "proxmox";
            for (const auto type : {conditions::kFailed, conditions::kMachineDeleted})
                objects::set_condition(edited.status.conditions, type, api::ConditionStatus::True,
                                       api::Time(clock.wall_now()), "NoHostLargeEnough");
        });
    }
    // Makes the claim report for that reason that its machine is not identified.
    void leave_to_person(const NodeSmithClaim& claim, const std::string& reason) {
        server.edit<NodeSmithClaim>(api::key_of(claim), [&](NodeSmithClaim& edited) {
            edited.status.providerRef = "proxmox";
            objects::set_condition(edited.status.conditions, conditions::kLaunched,
                                   api::ConditionStatus::False, api::Time(clock.wall_now()), reason);
        });
    }
    // Makes the claim report that its provider does not answer.
    void hold_up(const NodeSmithClaim& claim) {
        server.edit<NodeSmithClaim>(api::key_of(claim), [&](NodeSmithClaim& edited) {
            edited.status.providerRef = "proxmox";
            objects::set_condition(edited.status.conditions, conditions::kLaunched,
                                   api::ConditionStatus::False, api::Time(clock.wall_now()),
                                   "ProviderNotReady");
        });
    }
    // Returns the name of the other provider's pool.
    std::string put_other_provider() {
        auto provider = *server.get<NodeSmithProvider>({"default", "proxmox"});
        provider.metadata = {};
        provider.metadata.name = "other";
        provider.metadata.namespace_ = "default";
        server.put(provider);
        auto pool = objects::pool("elsewhere");
        pool.spec.providerRef = "other";
        server.put(pool);
        run_for(2s);
        return "elsewhere";
    }
    std::size_t living_claims() {
        const auto all = claims();
        return static_cast<std::size_t>(std::count_if(
            all.begin(), all.end(), [](const auto& claim) { return !claim.metadata.deletionTimestamp; }));
    }
};

}  // namespace

TEST_CASE("README's pool launches for 20 pods of 1 CPU what its hosts can provide") {
    World world;
    world.server.edit<NodeSmithProvider>({"default", "proxmox"}, [](NodeSmithProvider& provider) {
        auto& host = provider.status.hosts[0];
        host.largestMachine = api::v1alpha1::Size{15, 62 * 1024};
        host.freeCPUCores = 63;
        host.freeMemoryMiB = 62 * 1024;
    });
    world.put_pending_pods(20, "1");
    world.run_for(3s);
    CHECK(world.claims().size() == 2);
    for (const auto& claim : world.claims()) CHECK(claim.spec.requirements.cpuCores <= 15);
    CHECK(world.events.count("NoNodeForPod") == 0);
}

// The real scheduler takes seconds for many pods. Without this rule our solve gives the room to other pods
// meanwhile. It then launches machines for pods that get their own place in the end.
TEST_CASE("the room of a machine that has just come into service is for the pods that it was launched for") {
    World world(test::ProvisioningWorld::fixed_size_pool());
    world.put_pending_pod("small", "600m");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    const auto first = world.claims()[0].metadata.name;
    world.join(world.claims()[0]);
    world.put_pending_pod("large", "1500m");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 2);
    for (const auto& claim : world.claims()) {
        const auto* pod = claim.metadata.name == first ? "small" : "large";
        const auto uid = world.server.get<api::Pod>({"default", pod})->metadata.uid;
        CHECK(claim.metadata.annotations->at("kubenodesmith.io/launched-for") == uid);
    }
}

TEST_CASE("a claim that waits for room prevents no other launch, and is not launched again") {
    World world;
    world.put_pending_pod("large", "8", "8Gi");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    world.refuse_room(world.claims()[0]);
    world.run_for(1min);
    CHECK(world.claims().size() == 1);
    CHECK(world.events.count("no host has room for a machine") == 1);
    world.put_pending_pod("small", "1");
    world.run_for(2s);
    CHECK(world.claims().size() == 2);
    world.run_for(10min);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("pods do not wait for a claim whose machine a person has to find") {
    World world;
    world.put_pending_pod("pod", "8", "8Gi");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    const auto reason = GENERATE(as<std::string>(), "MachineNotKnown", "MachineNotShown", "SeveralMachines",
                                 "MarkOfOtherMachine");
    world.leave_to_person(world.claims()[0], reason);
    world.run_for(10min);
    CHECK(world.claims().size() == (reason == "MachineNotKnown" ? 1 : 2));
}

// The hosts' data already deducts a running machine, whatever mark it carries.
TEST_CASE("a claim whose machine a person has to find takes neither room nor a turn from others") {
    auto pool = World::fixed_size_pool();
    const auto most_at_a_time = GENERATE(0, 1);
    pool.spec.scaleUp.maxConcurrent = most_at_a_time;
    World world(pool);
    world.put_pending_pod("pod");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    if (most_at_a_time == 0)
        world.server.edit<NodeSmithProvider>({"default", "proxmox"}, [](NodeSmithProvider& provider) {
            provider.status.hosts[0].freeMemoryMiB = 4096;
        });
    const auto reason = GENERATE(as<std::string>(), "MachineNotKnown", "MachineNotShown", "SeveralMachines",
                                 "MarkOfOtherMachine");
    world.leave_to_person(world.claims()[0], reason);
    world.run_for(10min);
    CHECK(world.claims().size() == (reason == "MachineNotKnown" ? 1 : 2));
}

TEST_CASE("a claim that waits for room is withdrawn once no pod needs it") {
    World world;
    const auto pod = world.put_pending_pod("large", "8", "8Gi");
    world.run_for(2s);
    world.refuse_room(world.claims()[0]);
    world.run_for(1min);
    REQUIRE(world.living_claims() == 1);
    SECTION("it was deleted") {
        world.server.remove<api::Pod>(api::key_of(pod));
    }
    SECTION("it runs") {
        world.server.put(objects::node("other", true, "16", "64Gi"));
        world.bind("large", "other");
    }
    world.run_for(5s);
    CHECK(world.living_claims() == 0);
    CHECK(world.events.count("Withdrawn") == 1);
}

TEST_CASE(
    "machines of a provider that does not answer are ordered elsewhere, and withdrawn when it is back") {
    World world;
    const auto pod = world.put_pending_pod("web");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    const auto other = world.put_other_provider();
    const auto set_answers = [&](api::ConditionStatus status, const char* reason) {
        world.server.edit<NodeSmithProvider>({"default", "proxmox"}, [&](NodeSmithProvider& provider) {
            objects::set_condition(provider.status.conditions, conditions::kReady, status,
                                   api::Time(world.clock.wall_now()), reason);
        });
    };
    world.hold_up(world.claims()[0]);
    set_answers(api::ConditionStatus::False, "Unreachable");
    world.run_for(20s);
    CHECK(world.claims(other).empty());
    SECTION("it comes back soon") {
        set_answers(api::ConditionStatus::True, "Ready");
        world.run_for(5min);
        CHECK(world.claims(other).empty());
        CHECK(world.living_claims() == 1);
    }
    SECTION("it stays away") {
        world.run_for(15s);
        REQUIRE(world.claims(other).size() == 1);
        CHECK(world.living_claims() == 1);
        world.run_for(5min);
        CHECK(world.claims(other).size() == 1);
        // The claim keeps its pods until another machine is being made.
        world.server.edit<NodeSmithClaim>(api::key_of(world.claims(other)[0]), [](NodeSmithClaim& claim) {
            claim.status.providerRef = "other";
            claim.status.machineID = "100";
        });
        world.join(world.claims(other)[0]);
        world.bind("web", world.claims(other)[0].metadata.name);
        world.run_for(5s);
        CHECK(world.living_claims() == 0);
        CHECK(world.events.count("Withdrawn: its provider could not create its machine") == 1);
    }
}

TEST_CASE("a claim that lost its status while its provider is away keeps its node") {
    World world;
    world.put_pending_pod("web");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    const auto claim = world.claims()[0];
    world.join(claim);
    world.bind("web", claim.metadata.name);
    world.run_for(5s);
    world.server.edit<NodeSmithClaim>(api::key_of(claim), [](NodeSmithClaim& edited) { edited.status = {}; });
    world.hold_up(claim);
    world.run_for(1min);
    CHECK(world.living_claims() == 1);
}

TEST_CASE("a size that no host can take is asked for again with growing pauses, smaller ones at once") {
    World world;
    world.put_pending_pod("large", "8", "8Gi");
    world.run_for(2s);
    world.fail_for_room(world.claims()[0]);
    world.run_for(2s);
    CHECK(world.claims().size() == 1);
    world.put_pending_pod("small", "1");
    world.run_for(6s);
    CHECK(world.claims().size() == 2);
    world.run_for(5s);
    CHECK(world.claims().size() == 3);
}

TEST_CASE(
    "a machine's offer is the same when it is planned, while it is created, and as its Node reports it") {
    auto pool = objects::pool("small");
    auto provider = objects::provider("proxmox");
    provider.status.bootDiskGiB = 20;
    pool.spec.machineTemplate.extendedResources["example.com/gpu"] = api::Quantity::of(1);
    pool.status.learnedReserved = api::v1alpha1::SystemReserved{200, 512};
    auto claim = objects::created_claim("c", pool, 1, 4, 8192);
    claim.spec.extendedResources = pool.spec.machineTemplate.extendedResources;

    const auto hash = controllers::claim::template_hash(pool, &provider);
    scheduling::Pool entry;
    controllers::provisioning::describe_machines(entry, pool, &provider, hash);
    const auto launched = scheduling::expected_allocatable(entry, {4, 8192});
    const auto expected =
        controllers::provisioning::expected_node(claim, &pool, &provider, nullptr).status.allocatable;
    CHECK(launched == expected);
    CHECK(launched.at("cpu") == api::Quantity::parse("3800m"));
    CHECK(launched.at("memory") == api::Quantity::parse("7680Mi"));
    CHECK(launched.at("ephemeral-storage") == api::Quantity::parse("17Gi"));
    CHECK(launched.at("pods") == api::Quantity::of(110));
    CHECK(launched.at("example.com/gpu") == api::Quantity::of(1));

    // The Node offers less of every resource, and the operator uses these figures from then on.
    const auto node = objects::a_node("c")
                          .offering("cpu", "3500m")
                          .offering("memory", "7000Mi")
                          .offering("ephemeral-storage", "10Gi")
                          .offering("pods", "60")
                          .offering("example.com/gpu", "1")
                          .node;
    claim = objects::in_service(claim);
    claim.status.templateHash = hash;
    const auto nodes = objects::store_of<api::Node>({node});
    const controllers::PoolObservation facts{pool, objects::pointers({claim}), nodes, nullptr, &provider};
    pool.status.learnedReserved = controllers::learn_reserved(facts, hash);
    pool.status.learnedOffer = controllers::learn_offer(facts, hash);
    scheduling::Pool learned;
    controllers::provisioning::describe_machines(learned, pool, &provider, hash);
    CHECK(scheduling::expected_allocatable(learned, {4, 8192}) == node.status.allocatable);
}

TEST_CASE("huge pages are part of a machine's memory, which its pods cannot use otherwise") {
    auto pool = objects::pool("small");
    const auto provider = objects::provider("proxmox");
    pool.spec.machineTemplate.systemReserved = {100, 256};
    pool.spec.machineTemplate.extendedResources["hugepages-2Mi"] = api::Quantity::parse("2Gi");
    pool.spec.machineTemplate.extendedResources["example.com/gpu"] = api::Quantity::of(1);
    const auto memory = [&] {
        scheduling::Pool entry;
        controllers::provisioning::describe_machines(entry, pool, &provider, "");
        return scheduling::expected_allocatable(entry, {4, 8192}).at("memory");
    };
    CHECK(memory() == api::Quantity::of_mebibytes(8192 - 2048 - 256));
    // The difference between a Node's capacity and its allocatable memory includes them.
    pool.status.learnedReserved = api::v1alpha1::SystemReserved{100, 300 + 2048};
    CHECK(memory() == api::Quantity::of_mebibytes(8192 - 2048 - 300));
}

TEST_CASE("a pod that asks for an instance type gets a machine if all machines of a pool have that type") {
    auto pool = test::ProvisioningWorld::fixed_size_pool();
    std::string type = "2c-4Gi";
    std::size_t claims = 1;
    SECTION("its size is the type") {}
    SECTION("another size is another type") {
        type = "4c-8Gi";
        claims = 0;
    }
    SECTION("of several sizes none is chosen by its type") {
        pool.spec.machineTemplate.sizes.push_back({"large", 4, 8192});
        claims = 0;
    }
    World world(pool);
    auto pod = test::a_pod("a").requesting("1", "1Gi");
    pod.pod.spec.nodeSelector = {{"node.kubernetes.io/instance-type", type}};
    world.put_pending(pod);
    world.run_for(20s);
    CHECK(world.claims().size() == claims);
}

TEST_CASE("a pod that wants no instance type gets no machine, as each gets one") {
    World world(objects::pool("small"));
    auto pod = test::a_pod("a").requesting("1", "1Gi");
    api::NodeSelectorTerm term;
    term.matchExpressions.push_back(
        {"node.kubernetes.io/instance-type", api::SelectorOperator::DoesNotExist, {}});
    pod.pod.spec.affinity->nodeAffinity.emplace()
        .requiredDuringSchedulingIgnoredDuringExecution.emplace()
        .nodeSelectorTerms = {term};
    world.put_pending(pod);
    world.run_for(20s);
    CHECK(world.claims().empty());
}

TEST_CASE("a machine takes as many pods as its kubelet is told, or fewer if its Nodes show that") {
    auto pool = objects::pool("small");
    const auto provider = objects::provider("proxmox");
    const auto hash = controllers::claim::template_hash(pool, &provider);
    auto manager = objects::control_plane("main", {"*"});
    const auto pods = [&] {
        scheduling::Pool entry;
        const auto known = controllers::provisioning::with_bootstrap(pool, &manager);
        controllers::provisioning::describe_machines(entry, known, &provider, hash);
        return entry.pods_per_node;
    };
    CHECK(pods() == 110);
    manager.spec.bootstrap.emplace().kubelet.emplace().maxPods = 250;
    CHECK(pods() == 250);
    pool.spec.bootstrap.emplace().kubelet.emplace().maxPods = 60;
    CHECK(pods() == 60);
    pool.status.learnedOffer = api::v1alpha1::LearnedOffer{hash, 110, 0};
    CHECK(pods() == 60);
    pool.status.learnedOffer->pods = 30;
    CHECK(pods() == 30);
    pool.spec.bootstrap->kubelet.reset();
    CHECK(pods() == 30);
}

TEST_CASE("pods are placed by the control plane's word on how many a machine takes") {
    auto pool = World::fixed_size_pool();
    World world(pool);
    world.server.edit<objects::NodeSmithControlPlane>({"default", "main"}, [](auto& control_plane) {
        control_plane.spec.bootstrap.emplace().kubelet.emplace().maxPods = 2;
    });
    world.run_for(1s);
    for (const auto* name : {"a", "b", "c"}) world.put_pending_pod(name, "100m");
    world.run_for(5s);
    CHECK(world.claims().size() == 2);
}

// Otherwise machines take no room from others for some seconds after they were placed.
TEST_CASE("a machine that the provider has not counted yet takes room from others, and only once") {
    World world(World::fixed_size_pool());
    const auto tell = [&world](std::int64_t free_memory_mib, std::vector<std::string> machines) {
        world.server.edit<NodeSmithProvider>({"default", "proxmox"}, [&](NodeSmithProvider& provider) {
            provider.status.hosts[0].freeMemoryMiB = free_memory_mib;
            provider.status.hosts[0].machineIDs = machines;
        });
        world.run_for(30s);
    };
    tell(6 * 1024, {});
    world.put_pending_pod("first", "1500m");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    world.server.edit<NodeSmithClaim>(api::key_of(world.claims()[0]), [&](NodeSmithClaim& placed) {
        placed.status.providerRef = "proxmox";
        placed.status.host = "pve1";
        placed.status.machineID = "100";
        objects::set_condition(placed.status.conditions, conditions::kLaunched, api::ConditionStatus::Unknown,
                               api::Time(world.clock.wall_now()), "Launching");
    });
    world.put_pending_pod("second", "1500m");
    world.run_for(30s);
    CHECK(world.claims().size() == 1);
    CHECK(world.events.count("no host has room for a machine") == 1);
    tell(2 * 1024, {"100"});
    CHECK(world.claims().size() == 1);
    tell(4 * 1024, {"100"});
    CHECK(world.claims().size() == 2);
}

TEST_CASE("what a node claims to have beyond its machine is no room for pods") {
    World world(test::ProvisioningWorld::fixed_size_pool());
    world.put_pending_pod("small", "600m");
    world.run_for(2s);
    REQUIRE(world.claims().size() == 1);
    world.join(world.claims()[0]);
    world.server.edit<api::Node>({"", world.claims()[0].metadata.name}, [](api::Node& node) {
        node.status.allocatable["cpu"] = api::Quantity::of(64);
        node.status.allocatable["memory"] = api::Quantity::of_mebibytes(1024 * 1024);
    });
    world.bind("small", world.claims()[0].metadata.name);
    world.run_for(10min);
    world.put_pending_pod("large", "1500m");
    world.run_for(2s);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("a DaemonSet of one tenant keeps nobody's pods from their machines, and is told why it has none") {
    World world(test::ProvisioningWorld::fixed_size_pool());
    api::DaemonSet set;
    set.metadata.namespace_ = "tenant";
    set.metadata.name = "huge";
    set.spec.template_.spec = builders::PodBuilder("huge", "32").pod.spec;
    world.server.put(set);
    world.put_pending_pod("small", "600m");
    world.run_for(2s);
    CHECK(world.claims().size() == 1);
    CHECK(world.events.count(
              "DaemonSet huge FitsNoMachine: no machine of pool small is large enough for its pod, so "
              "machines are created without room for it: request less, or select other nodes") == 1);
}

TEST_CASE("the pools of a control plane share the claims that it may create within an hour") {
    World world(test::ProvisioningWorld::fixed_size_pool());
    auto other = test::ProvisioningWorld::fixed_size_pool();
    other.metadata.name = "other";
    other.metadata.uid = "other-uid";
    other.spec.limits.minNodes = 2;
    world.server.put(other);
    world.server.edit<NodeSmithPool>({"default", "small"},
                                     [](NodeSmithPool& pool) { pool.spec.limits.minNodes = 2; });
    world.server.edit<objects::NodeSmithControlPlane>(
        {"default", "main"}, [](auto& manager) { manager.spec.rateLimits.maxCreationsPerHour = 3; });
    world.run_for(10s);
    CHECK(world.claims("small").size() + world.claims("other").size() == 3);
}
