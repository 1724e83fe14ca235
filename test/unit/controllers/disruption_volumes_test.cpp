// Tests nodes with PersistentVolumes on their disks. The nodes or their machines are kept until somebody
// decides.
#include "api/v1alpha1/host.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"
#include "test/unit/controllers/local_volumes.hpp"

using namespace std::chrono_literals;
using api::v1alpha1::NodeSmithHost;
using Launching = test::DisruptionWorld::Launching;
using World = test::DisruptionWorld;
using test::put_local_volume;

namespace {

const std::string kVolume = "volume v (PersistentVolumeClaim default/data-v)";

// Puts a database that uses the volume "v" on the node.
void put_database(World& world, const std::string& node) {
    world.put_replica("db-0", "500m");
    world.server.edit<api::Pod>({"default", "db-0"}, [](api::Pod& pod) {
        pod.metadata.labels = {{"app", "db"}};
        pod.metadata.ownerReferences = {{"apps/v1", "StatefulSet", "db", "uid-of-db", true, true}};
        api::Volume volume;
        volume.name = "data";
        volume.persistentVolumeClaim = api::PersistentVolumeClaimVolumeSource{"data-v"};
        pod.spec.volumes->push_back(volume);
    });
    world.bind("db-0", node);
}

void maintain_host_of(World& world, const std::string& name, bool is_maintained = true) {
    NodeSmithHost host;
    host.metadata.namespace_ = "default";
    host.metadata.name = "r1u07";
    host.spec.providerRef = "proxmox";
    host.spec.maintenance = is_maintained;
    host.status.claimRef = api::v1alpha1::ClaimReference{name, world.claim(name).metadata.uid};
    world.server.put(host);
}

void stand_on_host(World& world, const std::string& name) {
    world.server.edit<objects::NodeSmithClaim>({"default", name},
                                               [](auto& claim) { claim.status.host = "r1u07"; });
}

void never_scale_down(World& world) {
    world.edit_pool([](auto& pool) { pool.spec.scaleDown.policy = api::v1alpha1::ScaleDownPolicy::Never; });
}

void give_up(World& world, const std::string& claim) {
    world.server.edit<objects::NodeSmithClaim>({"default", claim}, [](auto& edited) {
        edited.metadata.annotations["kubenodesmith.io/local-volumes"] = "discard";
    });
}

std::string message(World& world, const std::string& name, const std::string& type) {
    const auto claim = world.claim(name);
    const auto* condition = api::find_condition(claim.status.conditions, type);
    return condition ? condition->message : "";
}

}  // namespace

TEST_CASE("an empty node with a bound volume on its disk stays until the volume's claim is gone") {
    World world({"a", "b"});
    put_local_volume(world.server, "v", "a");
    world.live(10min);
    REQUIRE(world.find("a"));
    CHECK_FALSE(world.find("b"));
    CHECK_FALSE(world.is_tainted("a"));
    CHECK(world.events.count("Node a DisruptionBlocked: Empty, but the node stays: " + kVolume +
                             " can be used on this node only") == 1);

    world.server.remove<api::PersistentVolumeClaim>({"default", "data-v"});
    world.server.remove<api::PersistentVolume>({"", "v"});
    world.live(3min);
    CHECK_FALSE(world.find("a"));
}

TEST_CASE("whoever says that the data may be lost lets the node go, and an Event names the volume") {
    World world;
    put_local_volume(world.server, "v", "a");
    world.live(3min);
    REQUIRE(world.find("a"));
    SECTION("by an annotation of the claim") {
        world.server.edit<api::PersistentVolumeClaim>({"default", "data-v"}, [](auto& claim) {
            claim.metadata.annotations["kubenodesmith.io/local-data"] = "Disposable";
        });
    }
    SECTION("by an annotation of the class") {
        api::StorageClass storage_class;
        storage_class.metadata.name = test::kLocalClass;
        storage_class.metadata.annotations = {{"kubenodesmith.io/local-data", "Disposable"}};
        world.server.put(storage_class);
    }
    SECTION("for the pool") {
        world.edit_pool([](auto& pool) {
            pool.spec.disruption.localVolumes = api::v1alpha1::LocalVolumesPolicy::Discard;
        });
    }
    SECTION("for the machine") {
        give_up(world, "a");
    }
    world.live(3min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.events.count("Node a Disrupting: Empty: the node is empty; lost with it: " + kVolume) == 1);
    CHECK(world.claim_events.count("NodeSmithClaim a LosingVolumes: data is lost with machine") == 1);
}

TEST_CASE("a released volume that was to be kept holds no node, and is named before its node goes") {
    World world;
    auto volume = test::volume_on("v", "a");
    volume.spec.persistentVolumeReclaimPolicy = "Retain";
    volume.status.phase = "Released";
    world.server.put(volume);
    world.live(3min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.events.count("lost with it: volume v (Released, Retain") == 1);
    // One Event is on the claim, one on the Node.
    CHECK(world.claim_events.count("LosingVolumes: data is lost with machine") == 2);
}

TEST_CASE("a node with a volume that nobody uses is neither replaced for drift nor for its age") {
    World world({"a", "b"}, Launching::on, 4);
    never_scale_down(world);
    world.put_running_pod("one", "a");
    put_local_volume(world.server, "v", "a");
    world.run_for(1s);
    std::string kind;
    SECTION("drift") {
        world.made_from("a", "3-another template");
        kind = "Drifted";
    }
    SECTION("age") {
        world.edit_pool([](auto& pool) { pool.spec.disruption.expireAfter.duration = api::Duration(1s); });
        kind = "Expired";
    }
    world.live(5min);
    CHECK(world.find("a"));
    CHECK(world.place_of("one") == "a");
    CHECK(world.events.count("Node a DisruptionBlocked: " + kind + ", but the node stays: " + kVolume) == 1);
}

TEST_CASE("an underutilized node with a volume that nobody uses stays, another one goes") {
    World world({"a", "b"}, Launching::on, 4);
    put_local_volume(world.server, "v", "a");
    world.put_running_pod("one", "a", "500m");
    world.put_running_pod("two", "b", "1500m");
    world.live(10min);
    CHECK(world.find("a"));
    CHECK_FALSE(world.find("b"));
}

TEST_CASE("a volume that is bound while its node is drained ends the drain") {
    World world({"a", "b"}, Launching::on, 4);
    never_scale_down(world);
    world.put_running_pod("one", "a");
    world.run_for(1s);
    world.made_from("a", "3-another template");
    bool is_bound = false;
    // The watch has not reported the volume when the claim is about to be deleted.
    world.requests.on_request = [&](const base::HttpRequest& request) {
        if (is_bound || request.method != "POST" || request.target.find("/eviction") == std::string::npos)
            return;
        is_bound = true;
        put_local_volume(world.server, "v", "a");
    };
    world.live(5min);
    REQUIRE(is_bound);
    CHECK(world.find("a"));
    CHECK_FALSE(world.is_tainted("a"));
    CHECK(world.events.count("Node a RemovalUndone: the node stays: " + kVolume) == 1);
}

TEST_CASE("pods with a volume that ends with them are drained, and run elsewhere") {
    World world({"a", "b"}, Launching::on, 4);
    never_scale_down(world);
    world.put_running_pod("one", "a");
    const auto uid = world.server
                         .edit<api::Pod>({"default", "one"},
                                         [](api::Pod& pod) {
                                             api::Volume volume;
                                             volume.name = "scratch";
                                             volume.ephemeral.emplace();
                                             pod.spec.volumes->push_back(volume);
                                         })
                         .metadata.uid;
    auto volume = test::volume_on("v", "a");
    volume.spec.claimRef->name = "one-scratch";
    auto claim = test::claim_of(volume);
    claim.metadata.ownerReferences = {{"v1", "Pod", "one", uid, true, true}};
    test::put_bound(world.server, volume, claim);
    world.run_for(1s);
    world.made_from("a", "3-another template");
    world.live(5min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.place_of("one") == "b");
}

TEST_CASE("a database whose data may be lost is evicted although it fits nowhere else") {
    World world({"a", "b"}, Launching::on, 4);
    never_scale_down(world);
    put_local_volume(world.server, "v", "a");
    put_database(world, "a");
    world.run_for(1s);
    world.made_from("a", "3-another template");
    world.live(3min);
    REQUIRE(world.find("a"));
    CHECK(world.place_of("db-0") == "a");
    world.edit_pool(
        [](auto& pool) { pool.spec.disruption.localVolumes = api::v1alpha1::LocalVolumesPolicy::Discard; });
    world.live(3min);
    CHECK_FALSE(world.find("a"));
    CHECK(world.claims().size() == 1);  // no machine is created for a pod that waits for its volume
}

TEST_CASE("a database is not evicted just to save its node, even if its data may be lost") {
    World world({"a", "b"}, Launching::on, 4);
    world.edit_pool(
        [](auto& pool) { pool.spec.disruption.localVolumes = api::v1alpha1::LocalVolumesPolicy::Discard; });
    put_local_volume(world.server, "v", "a");
    put_database(world, "a");
    world.put_running_pod("one", "b", "1500m");
    world.live(20min);
    CHECK(world.find("a"));
    CHECK(world.place_of("db-0") == "a");
}

TEST_CASE("the machine of a broken node with a volume is kept, once, until a person decides") {
    World world({"a", "b"}, Launching::on, 4);
    never_scale_down(world);
    world.edit_pool([](auto& pool) { pool.spec.disruption.repair.maxUnhealthyPercent = 100; });
    put_local_volume(world.server, "v", "a");
    put_database(world, "a");
    world.put_running_pod("one", "a", "3");
    world.put_running_pod("two", "b", "3");
    world.set_ready("a", false);
    world.live(40min);
    REQUIRE(world.find("a"));
    CHECK(world.condition("a", "KeptForVolumes") == "True LocalVolumes");
    CHECK_THAT(message(world, "a", "KeptForVolumes"),
               Catch::Contains(kVolume) && Catch::Contains("kubectl annotate nodesmithclaim a -n default "
                                                           "kubenodesmith.io/local-volumes=discard"));
    CHECK(world.condition("a", "Stalled") == "True LocalVolumes");
    CHECK(world.claim_events.count("NodeSmithClaim a LocalVolumes: machine") == 1);
    // The other pod runs elsewhere, on the one machine that was created for it.
    CHECK(world.claims().size() == 3);
    CHECK_FALSE(world.place_of("one").empty());
    CHECK(world.place_of("db-0") == "a");
    const auto available = world.pool();
    CHECK_THAT(api::find_condition(available.status.conditions, "Available")->message,
               Catch::Contains("1 machine is kept for the volumes on disk until a person decides") &&
                   Catch::Contains("claim a"));

    SECTION("who gives the data up") {
        give_up(world, "a");
        world.live(15min);
        CHECK_FALSE(world.find("a"));
        CHECK(world.claims().size() == 2);
        CHECK(world.claim_events.count("NodeSmithClaim a LosingVolumes: data is lost with machine") == 1);
    }
    SECTION("who deletes the claim") {
        world.server.remove<objects::NodeSmithClaim>({"default", "a"});
        world.live(15min);
        CHECK_FALSE(world.find("a"));
        CHECK(world.claim_events.count("NodeSmithClaim a LosingVolumes: data is lost with machine") == 1);
    }
    SECTION("unless it comes back") {
        world.set_ready("a", true);
        world.live(3min);
        REQUIRE(world.find("a"));
        CHECK(world.condition("a", "KeptForVolumes").empty());
        CHECK_FALSE(world.is_tainted("a"));
        CHECK(world.place_of("db-0") == "a");
    }
}

TEST_CASE("a machine that is kept keeps no other node from its repair or replacement") {
    World world({"a", "b", "c"}, Launching::on, 4);
    never_scale_down(world);
    world.edit_pool([](auto& pool) { pool.spec.disruption.repair.maxUnhealthyPercent = 100; });
    put_local_volume(world.server, "v", "a");
    world.put_running_pod("one", "b", "500m");
    world.put_running_pod("two", "c", "500m");
    world.set_ready("a", false);
    world.live(15min);
    REQUIRE(world.condition("a", "KeptForVolumes") == "True LocalVolumes");
    world.made_from("b", "3-another template");
    world.live(3min);
    CHECK_FALSE(world.find("b"));
    world.set_ready("c", false);
    world.live(15min);
    CHECK_FALSE(world.find("c"));
    CHECK(world.find("a"));
}

TEST_CASE("a node on a host that is evacuated moves its pods, and its machine is kept for its volume") {
    World world({"a", "b"}, Launching::on, 4);
    never_scale_down(world);
    stand_on_host(world, "a");
    put_local_volume(world.server, "v", "a");
    put_database(world, "a");
    world.put_running_pod("one", "a", "2500m");
    world.live(2min);
    maintain_host_of(world, "a");
    world.live(20min);
    REQUIRE(world.find("a"));
    CHECK(world.place_of("one") == "b");
    CHECK(world.place_of("db-0") == "a");
    CHECK(world.condition("a", "KeptForVolumes") == "True LocalVolumes");
    CHECK(world.claims().size() == 2);
    CHECK_FALSE(world.was_evicted("db-0"));
    SECTION("who gives the data up") {
        give_up(world, "a");
        world.live(3min);
        CHECK_FALSE(world.find("a"));
        CHECK(world.was_evicted("db-0"));
    }
    SECTION("whose claim is deleted: the pod that uses the volume is evicted, too") {
        world.server.remove<objects::NodeSmithClaim>({"default", "a"});
        world.live(3min);
        CHECK_FALSE(world.find("a"));
        CHECK(world.was_evicted("db-0"));
    }
    SECTION("whose host is ready again") {
        maintain_host_of(world, "a", false);
        world.live(3min);
        REQUIRE(world.find("a"));
        CHECK_FALSE(world.is_tainted("a"));
        CHECK(world.disrupted("a") == "False NoReason");
    }
}

TEST_CASE("a machine whose Node somebody deleted is kept for its volume, and serves again with its Node") {
    World world({"a", "b"});
    put_local_volume(world.server, "v", "a");
    world.edit_pool([](auto& pool) { pool.spec.limits.minNodes = 2; });
    world.run_for(1s);
    world.machines_join = false;
    const auto node = world.node("a");
    world.server.remove<api::Node>({"", "a"});
    world.live(10min);
    REQUIRE(world.find("a"));
    CHECK_FALSE(world.claim("a").metadata.deletionTimestamp);
    CHECK(world.condition("a", "KeptForVolumes") == "True LocalVolumes");
    CHECK_THAT(message(world, "a", "KeptForVolumes"), Catch::Contains("its Node was deleted"));
    SECTION("who gives the data up") {
        give_up(world, "a");
        world.live(3min);
        CHECK_FALSE(world.find("a"));
    }
    SECTION("whose kubelet starts again") {
        world.machines_join = true;
        world.live(3min);
        REQUIRE(world.find("a"));
        CHECK(world.condition("a", "KeptForVolumes").empty());
        CHECK(world.condition("a", "Ready") == "True Ready");
    }
}

TEST_CASE("a machine whose Node somebody deleted is kept for a volume that names it by its driver's ID") {
    World world({"a", "b"});
    const std::string key = "topology.lvm.example/node";
    world.server.edit<api::Node>({"", "a"}, [&](api::Node& node) { node.metadata.labels[key] = "id-7"; });
    api::CSINode csi;
    csi.metadata.name = "a";
    csi.spec.drivers.push_back({"lvm.example", "id-7", {key}, {}});
    world.server.put(csi);
    auto volume = test::volume_at("v", {test::term_in(key, {"id-7"})});
    volume.spec.csi = api::CSIPersistentVolumeSource{"lvm.example"};
    test::put_bound(world.server, volume);
    world.edit_pool([](auto& pool) { pool.spec.limits.minNodes = 2; });
    world.run_for(1s);
    world.machines_join = false;
    // The garbage collector of Kubernetes deletes the CSINode with its Node.
    world.server.remove<api::Node>({"", "a"});
    world.server.remove<api::CSINode>({"", "a"});
    world.live(10min);
    REQUIRE(world.find("a"));
    CHECK_FALSE(world.claim("a").metadata.deletionTimestamp);
    CHECK(world.condition("a", "KeptForVolumes") == "True LocalVolumes");
    CHECK_THAT(message(world, "a", "KeptForVolumes"), Catch::Contains(kVolume));
    give_up(world, "a");
    world.live(3min);
    CHECK_FALSE(world.find("a"));
}

TEST_CASE("a volume that cannot be decoded keeps the nodes that it may concern, and no others") {
    World world({"a", "b"});
    world.server.put(test::free_volume_on("odd", "a"));
    world.server.store().update(world.server.key<api::PersistentVolume>({"", "odd"}),
                                [](boost::json::object& volume) { volume["status"] = 7; });
    world.live(10min);
    CHECK(world.find("a"));
    CHECK_FALSE(world.find("b"));
    CHECK(
        world.events.count("Node a DisruptionBlocked: Empty, but the node stays: volume odd (which cannot be "
                           "decoded") == 1);
}
