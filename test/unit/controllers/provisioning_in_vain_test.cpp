// Tests pods that no launch would help, and launches that did not help.
#include <algorithm>

#include "controllers/provisioning/kinds.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace std::chrono_literals;
using objects::NodeSmithClaim;
using objects::NodeSmithControlPlane;
using test::a_pod;
using World = test::ProvisioningWorld;

namespace {

// Puts a node of no pool with 2 CPUs that a pod "old" uses completely.
void put_full_node(World& world) {
    world.server.options().pods_end_after.reset();
    world.server.put<api::Node>(objects::a_node("theirs").label("kubernetes.io/hostname", "theirs"));
    world.put_pending_pod("old", "1500m");
    world.bind("old", "theirs");
    world.run_for(2s);
}

// Puts a pod "new" for which the scheduler has nominated the node of put_full_node().
void put_nominated_pod(World& world) {
    world.put_pending_pod("new");
    world.server.edit<api::Pod>({"default", "new"},
                                [](api::Pod& pod) { pod.status.nominatedNodeName = "theirs"; });
}

// Deletes the pod as the scheduler does to make room.
void preempt(World& world, const std::string& name, std::int64_t grace_seconds) {
    world.server.edit<api::Pod>({"default", name}, [](api::Pod& pod) {
        objects::set_condition(*pod.status.conditions, "DisruptionTarget", api::ConditionStatus::True,
                               objects::kStart, "PreemptionByScheduler");
    });
    world.server.remove<api::Pod>({"default", name}, grace_seconds);
}

std::vector<std::string> pods_on(const controllers::provisioning::World& world, const std::string& node) {
    std::vector<std::string> names;
    for (const auto& entry : world.snapshot.nodes)
        if (entry.node->metadata.name == node)
            for (const auto& pod : entry.pods) names.push_back(pod->metadata.name);
    return names;
}

void put_storage(World& world) {
    api::StorageClass storage_class;
    storage_class.metadata.name = "late";
    storage_class.provisioner = "csi.test";
    storage_class.volumeBindingMode = api::VolumeBindingMode::WaitForFirstConsumer;
    world.server.put(storage_class);
    api::CSIDriver driver;
    driver.metadata.name = "csi.test";
    driver.spec.storageCapacity = true;
    world.server.put(driver);
    api::PersistentVolumeClaim claim;
    claim.metadata.name = "data";
    claim.metadata.namespace_ = "default";
    claim.spec.storageClassName = "late";
    claim.spec.resources.requests["storage"] = api::Quantity::parse("10Gi");
    claim.status.phase = "Pending";
    world.server.put(claim);
    world.run_for(2s);
}

// Puts a pod like those of a Deployment: "web-<number>".
void put_replica(World& world, int number) {
    world.put_pending(a_pod("web-" + std::to_string(number))
                          .requesting("1500m", "1Gi")
                          .label("app", "web")
                          .label("pod-template-hash", std::to_string(number)));
}

void give_host_port(api::Pod& pod) {
    pod.spec.containers->front().ports.push_back({8080, 8080, "", "TCP"});
}

void keep_more_than_thought(World& world) {
    for (const auto& claim : world.claims())
        world.server.edit<api::Node>({"", claim.metadata.name}, [](api::Node& node) {
            node.status.allocatable["cpu"] = api::Quantity::parse("1100m");
        });
}

void remove_all_claims(World& world) {
    for (const auto& claim : world.claims()) world.server.remove<NodeSmithClaim>(api::key_of(claim));
    world.finish_deletions();
}

}  // namespace

TEST_CASE("nothing is launched for expendable pods, and an Event says so") {
    World world;
    world.put_pending(a_pod("batch").requesting("1", "1Gi").priority(-11));
    world.run_for(1min);
    CHECK(world.claims().empty());
    CHECK(
        world.events.count("Pod batch NoNodeForPod: no node can be created for the pod: its priority -11 is "
                           "below ignorePodsBelowPriority (-10)") == 1);
    world.put_pending(a_pod("balloon").requesting("1", "1Gi").priority(-10));
    world.run_for(1min);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("of several control planes, the one that launches for the least important pods decides") {
    World world;
    auto other = objects::control_plane("other", {"none"});
    other.spec.ignorePodsBelowPriority = -100;
    world.server.put(other);
    world.put_pending(a_pod("batch").requesting("1", "1Gi").priority(-11));
    world.run_for(1min);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("nothing is launched for a pod with a ResourceClaim") {
    World world;
    auto pod = world.put_pending_pod("trains");
    pod.spec.resourceClaims->push_back({"gpu", "one-gpu", ""});
    world.server.put(pod);
    world.run_for(1min);
    CHECK(world.claims().empty());
    CHECK(
        world.events.count("Pod trains NoNodeForPod: no node can be created for the pod: it asks for devices "
                           "through ResourceClaim one-gpu") == 1);
}

TEST_CASE("nothing is launched for a volume without room, until room is reported") {
    World world;
    put_storage(world);
    api::CSIStorageCapacity capacity;
    capacity.metadata.name = "room";
    capacity.metadata.namespace_ = "default";
    capacity.storageClassName = "late";
    capacity.nodeTopology.emplace();
    capacity.capacity = api::Quantity::parse("1Gi");
    world.server.put(capacity);
    world.put_pending(a_pod("db").requesting("1", "1Gi").mount("data"));
    world.run_for(1min);
    CHECK(world.claims().empty());
    CHECK(world.events.count("storage class late has no room left for a volume of 10Gi") == 1);
    capacity.capacity = api::Quantity::parse("20Gi");
    world.server.put(capacity);
    world.run_for(5s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a machine is created for a volume where the pool states room, and else not") {
    World world;
    put_storage(world);
    const auto state = [&world](const std::string& amount) {
        world.server.edit<objects::NodeSmithPool>({"default", "small"}, [&](objects::NodeSmithPool& pool) {
            pool.spec.machineTemplate.storageCapacity["late"] = api::Quantity::parse(amount);
        });
    };
    state("5Gi");
    world.run_for(2s);
    world.put_pending(a_pod("db").requesting("1", "1Gi").mount("data"));
    world.run_for(1min);
    CHECK(world.claims().empty());
    CHECK(world.events.count("machineTemplate.storageCapacity of the pool states 5Gi") == 1);
    state("50Gi");
    world.run_for(5s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE(
    "no Event is written while a volume may bind by itself, and one if it does not within half a minute") {
    World world;
    api::StorageClass storage_class;
    storage_class.metadata.name = "at-once";
    storage_class.provisioner = "csi.test";
    storage_class.volumeBindingMode = api::VolumeBindingMode::Immediate;
    world.server.put(storage_class);
    // A controller creates the claim a moment after its pod.
    auto db = a_pod("db").requesting("1", "1Gi").mount("data");
    db.pod.metadata.creationTimestamp = api::Time(world.clock.wall_now());
    world.put_pending(db);
    world.run_for(10s);
    api::PersistentVolumeClaim claim;
    claim.metadata.name = "data";
    claim.metadata.namespace_ = "default";
    claim.metadata.creationTimestamp = api::Time(world.clock.wall_now());
    claim.spec.storageClassName = "at-once";
    claim.status.phase = "Pending";
    world.server.put(claim);
    world.run_for(25s);
    CHECK(world.events.count("NoNodeForPod") == 0);
    world.run_for(10s);
    CHECK(world.claims().empty());
    CHECK(world.events.count(
              "volume claim data is not bound yet: its storage class at-once binds it at once") == 1);
}

TEST_CASE("a machine is large enough for what LimitRanges give the pods of DaemonSets") {
    World world;
    api::LimitRange range;
    range.metadata.name = "defaults";
    range.metadata.namespace_ = "default";
    range.spec.limits.push_back({"Container", {}, {{"cpu", api::Quantity::of(4)}}, {}, {}});
    world.server.put(range);
    api::DaemonSet agent;
    agent.metadata.name = "agent";
    agent.metadata.namespace_ = "default";
    agent.spec.template_.spec.containers->emplace_back().name = "main";
    world.server.put(agent);
    world.run_for(2s);
    world.put_pending_pod("web");
    world.run_for(5s);
    REQUIRE(world.claims().size() == 1);
    CHECK(world.claims()[0].spec.requirements.cpuCores > 5);
}

TEST_CASE("room that an ending pod gives back is waited for, but not longer than its grace period") {
    World world;
    put_full_node(world);
    world.server.remove<api::Pod>({"default", "old"}, 60);
    world.put_pending_pod("new");
    world.run_for(60s);
    CHECK(world.claims().empty());
    // The pod does not end.
    world.run_for(15s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("only as much is waited for as ending pods give back") {
    World world(World::fixed_size_pool());
    put_full_node(world);
    world.server.remove<api::Pod>({"default", "old"}, 60);
    world.put_pending_pods(3);
    world.run_for(30s);
    CHECK(world.claims().size() == 2);
}

TEST_CASE("a pod that takes long to end is not waited for") {
    World world;
    put_full_node(world);
    world.server.remove<api::Pod>({"default", "old"}, 600);
    world.put_pending_pod("new");
    world.run_for(10s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a pod for which the scheduler makes room waits for that as long as it may come true") {
    World world;
    put_full_node(world);
    put_nominated_pod(world);
    preempt(world, "old", 600);
    world.run_for(600s);
    CHECK(world.claims().empty());
    world.run_for(15s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a pod does not wait for room that the scheduler can make only much later") {
    World world;
    put_full_node(world);
    put_nominated_pod(world);
    preempt(world, "old", 5 * 3600);
    world.run_for(70s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a pod is not kept waiting for pods that end on the nominated node without making enough room") {
    World world;
    put_full_node(world);
    put_nominated_pod(world);
    SECTION("because it is not the scheduler that removes them") {
        world.put_pending_pod("job", "100m");
        world.bind("job", "theirs");
        world.server.remove<api::Pod>({"default", "job"}, 600);
        world.server.remove<api::Pod>({"default", "old"}, 600);
    }
    SECTION("because they are too small") {
        world.put_pending_pod("job", "100m");
        world.bind("job", "theirs");
        preempt(world, "job", 600);
    }
    world.run_for(70s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a removal of nodes leaves room for the pods that are nominated for them") {
    World world;
    put_full_node(world);
    put_nominated_pod(world);
    world.run_for(5s);
    CHECK(pods_on(world.provisioning.world_for_removals(), "theirs") ==
          std::vector<std::string>{"old", "new"});
    world.run_for(70s);
    CHECK(pods_on(world.provisioning.world_for_removals(), "theirs") == std::vector<std::string>{"old"});
}

TEST_CASE("room that the scheduler makes for one pod is not promised to another") {
    World world(World::fixed_size_pool());
    put_full_node(world);
    put_nominated_pod(world);
    preempt(world, "old", 60);
    world.put_pending_pods(1);
    world.run_for(30s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a pod is not kept waiting for a node that it is nominated for, and where nobody is ending") {
    World world;
    put_full_node(world);
    put_nominated_pod(world);
    world.run_for(50s);
    CHECK(world.claims().empty());
    world.run_for(30s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("a leaving node, one that is not ready and a cordoned one are no room for who is nominated there") {
    const std::vector<std::function<void(api::Node&)>> changes{
        [](api::Node& node) { node.spec.unschedulable = true; },
        [](api::Node& node) {
            node.spec.taints.push_back(
                {std::string(api::taints::kDisrupted), "", std::string(api::taints::kNoSchedule), {}});
        },
        [](api::Node& node) {
            objects::set_condition(node.status.conditions, "Ready", api::ConditionStatus::False);
        }};
    for (const auto& change : changes) {
        World world;
        put_full_node(world);
        put_nominated_pod(world);
        world.run_for(30s);
        REQUIRE(world.claims().empty());
        world.server.edit<api::Node>({"", "theirs"}, change);
        world.run_for(5s);
        CHECK(world.claims().size() == 1);
    }
}

TEST_CASE("a pod that replaces one whose machine did not help does not immediately get another machine") {
    World world;
    put_replica(world, 1);
    world.run_for(5s);
    REQUIRE(world.claims().size() == 1);
    world.join_all();
    world.run_for(70s);
    REQUIRE(world.events.count("Pod web-1 PredictionFailed") == 1);
    remove_all_claims(world);
    world.server.remove<api::Pod>({"default", "web-1"}, 0);
    put_replica(world, 2);
    world.run_for(8min);
    CHECK(world.claims().empty());
    CHECK(world.events.count("Pod web-2 NoNodeForPod: no node can be created for the pod: a node created for "
                             "pod default/web-1, which is like it, is in "
                             "service, but the scheduler did not use it") == 1);
    // A different pod gets its machine.
    world.put_pending_pod("other");
    world.run_for(5s);
    CHECK(world.claims().size() == 1);
}

TEST_CASE("after a launch without effect, one pod of the kind shows whether the next launch helps") {
    World world(World::fixed_size_pool());
    put_replica(world, 1);
    world.run_for(5s);
    world.join_all();
    world.run_for(70s);
    REQUIRE(world.events.count("PredictionFailed") == 1);
    remove_all_claims(world);
    for (int i = 2; i <= 6; ++i) put_replica(world, i);
    world.run_for(15min);
    REQUIRE(world.claims().size() == 1);
    CHECK(world.events.count("waiting to see whether a new machine helps pod default/web-1") >= 5);
    // The machine helps, so the operator launches for the others immediately.
    world.join_all();
    world.bind("web-1", world.claims()[0].metadata.name);
    world.run_for(10s);
    CHECK(world.claims().size() == 6);
}

// Otherwise four machines of the same wrong size would count as four mistakes.
TEST_CASE("machines that were launched together without effect are one attempt, and its lesson is tried") {
    auto pool = objects::pool("small");
    pool.spec.scaleUp.stabilizationWindow = 2min;
    World world(pool);
    for (int i = 1; i <= 4; ++i) {
        put_replica(world, i);
        world.server.edit<api::Pod>({"default", "web-" + std::to_string(i)}, give_host_port);
    }
    world.run_for(5s);
    REQUIRE(world.claims().size() == 4);
    world.join_all();
    keep_more_than_thought(world);
    world.run_for(70s);
    REQUIRE(world.events.count("PredictionFailed") == 4);
    world.run_for(10min);
    const auto claims = world.claims();
    CHECK(claims.size() == 5);
    CHECK(std::ranges::count_if(claims, [](const NodeSmithClaim& claim) {
              return claim.spec.requirements.cpuCores == 3;
          }) == 1);
}

// Otherwise three machines of the same wrong size would be launched within a minute.
TEST_CASE("a machine that offers less than expected is not launched again from the old data") {
    World world;
    put_replica(world, 1);
    world.run_for(5s);
    REQUIRE(world.claims().size() == 1);
    CHECK(world.claims()[0].spec.requirements.cpuCores == 2);
    world.join_all();
    keep_more_than_thought(world);
    world.server.edit<NodeSmithClaim>(api::key_of(world.claims()[0]), [](NodeSmithClaim& claim) {
        for (const auto* type : {"Initialized", "Ready"})
            objects::set_condition(claim.status.conditions, type, api::ConditionStatus::False);
    });
    world.run_for(5s);
    REQUIRE(world.claims().size() == 2);
    CHECK(world.claims()[1].spec.requirements.cpuCores == 3);
}

TEST_CASE("ten replicas that need ten machines get them, although one more waits in vain") {
    World world(World::fixed_size_pool());
    for (int i = 10; i < 20; ++i) put_replica(world, i);
    world.run_for(5s);
    const auto claims = world.claims();
    const auto first = claims.size();
    REQUIRE(first >= 5);
    world.join_all();
    // Pods use all machines but one.
    for (std::size_t i = 0; i + 1 < first; ++i)
        world.bind("web-" + std::to_string(10 + i), claims[i].metadata.name);
    world.run_for(90s);
    for (int i = 30; i < 40; ++i) put_replica(world, i);
    world.run_for(5s);
    CHECK(world.claims().size() > first);
}

TEST_CASE(
    "launches are recorded with the kinds of their pods, and machines that no pod used are remembered") {
    World world;
    put_replica(world, 1);
    put_replica(world, 2);
    world.put_pending_pod("other");
    world.run_for(5s);
    REQUIRE_FALSE(world.claims().empty());
    auto claim = world.claims()[0];
    const auto kinds = controllers::provisioning::kinds_launched_for(claim);
    CHECK(kinds.size() == 2);

    using controllers::provisioning::launches_by_kind;
    const auto history = [&] { return launches_by_kind(world.informers, api::Time(world.clock.wall_now())); };
    world.join_all();
    world.run_for(10s);
    CHECK(history().empty());
    world.run_for(60s);
    CHECK(history()[kinds[0]].in_vain == 1);
    world.bind("web-1", claim.metadata.name);
    world.run_for(1s);
    CHECK(history()[kinds[0]].in_vain == 0);
    CHECK(history()[kinds[0]].of_use == 1);
}

TEST_CASE("a machine that was empty from the beginning to the end was never used") {
    auto claim = objects::in_service(objects::claim("c", objects::pool("small")), objects::at(10s));
    using controllers::provisioning::was_never_used;
    CHECK_FALSE(was_never_used(claim));
    claim.status.emptySince = objects::at(15s);
    CHECK(was_never_used(claim));
    claim.status.emptySince = objects::at(10min);
    CHECK_FALSE(was_never_used(claim));
}

TEST_CASE("nothing is launched for dead pods on a Node that finalizers of other programs keep") {
    World world;
    world.server.options().pods_end_after.reset();
    auto claim =
        objects::in_service(objects::created_claim("gone", world.pool(), 100, 2, 4096), objects::at(0s));
    claim.metadata.finalizers = {std::string(api::finalizers::kClaim)};
    claim.metadata.deletionTimestamp = objects::at(0s);
    objects::set_condition(claim.status.conditions, api::conditions::kMachineDeleted,
                           api::ConditionStatus::True, objects::at(0s), "NodeTerminating");
    auto node = objects::node("gone", false);
    node.metadata.finalizers = {"wrangler.cattle.io/node"};
    node.metadata.deletionTimestamp = objects::at(0s);
    world.server.put(node);
    auto pod = a_pod("db-0").requesting("1", "1Gi").owner("StatefulSet", "db").on("gone").pod;
    pod.metadata.deletionTimestamp = objects::at(0s);
    pod = world.server.put(pod);
    world.server.put(claim);
    // A claim that was created for the pod is superfluous, too.
    auto waiting = objects::created_claim("waiting", world.pool(), 101, 2, 4096);
    waiting.metadata.annotations[std::string(api::annotations::kLaunchedFor)] = pod.metadata.uid;
    objects::set_condition(waiting.status.conditions, api::conditions::kLaunched, api::ConditionStatus::False,
                           objects::at(0s), "InsufficientCapacity");
    world.server.put(waiting);
    world.run_for(10min);
    REQUIRE(world.claims().size() == 1);
    CHECK(world.claims().front().metadata.name == "gone");
}
