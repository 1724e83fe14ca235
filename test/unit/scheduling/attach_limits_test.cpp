// Tests how many volumes new machines can attach.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

std::shared_ptr<const api::CSINode> attaches(int volumes, const std::string& driver = "csi.test") {
    auto csi = std::make_shared<api::CSINode>();
    csi->spec.drivers.push_back({driver, "", {}, api::VolumeNodeResources{volumes}});
    return csi;
}

scheduling::NodeInfo node_of_pool(const std::string& name, int volumes) {
    auto made = node(name, "0");
    made.pool = 0;
    made.csi = attaches(volumes);
    return made;
}

// Returns so many pods, each with a volume that is still to be made.
scheduling::Snapshot pods_with_volumes(int count) {
    auto cluster = snapshot();
    auto storage_class = std::make_shared<api::StorageClass>();
    storage_class->metadata.name = "late";
    storage_class->provisioner = "csi.test";
    storage_class->volumeBindingMode = api::VolumeBindingMode::WaitForFirstConsumer;
    cluster.volumes.classes = {storage_class};
    for (int i = 0; i < count; ++i) {
        const auto name = std::to_string(i);
        auto claim = std::make_shared<api::PersistentVolumeClaim>();
        claim->metadata.name = "data-" + name;
        claim->metadata.namespace_ = "default";
        claim->spec.storageClassName = "late";
        cluster.volumes.claims.push_back(claim);
        PodBuilder pod("p-" + name, "100m");
        pod.pod.spec.volumes->emplace_back().persistentVolumeClaim.emplace().claimName = "data-" + name;
        cluster.pods.push_back(pod);
    }
    return cluster;
}

// Lets the kube-scheduler refuse nodes that do not run the driver.
void require_driver(scheduling::Snapshot& cluster) {
    auto driver = std::make_shared<api::CSIDriver>();
    driver->metadata.name = "csi.test";
    driver->spec.preventPodSchedulingIfMissing = true;
    cluster.volumes.drivers = {driver};
}

std::size_t machines(const scheduling::Snapshot& cluster) {
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    return result.claims.size();
}

}  // namespace

TEST_CASE("a new machine gets as many volumes as its pool's nodes can attach") {
    auto cluster = pods_with_volumes(7);
    CHECK(machines(cluster) == 1);
    cluster.nodes = {node_of_pool("old", 3)};
    CHECK(machines(cluster) == 3);
    // Nodes of other pools, and other drivers, do not count.
    cluster.nodes[0].csi = attaches(3, "csi.other");
    CHECK(machines(cluster) == 1);
    cluster.nodes[0] = node_of_pool("old", 3);
    cluster.nodes[0].pool.reset();
    CHECK(machines(cluster) == 1);
}

TEST_CASE(
    "the youngest node of a pool shows what a new machine can attach, and what the pool states goes before") {
    auto cluster = pods_with_volumes(4);
    cluster.nodes = {node_of_pool("old", 1), node_of_pool("young", 2)};
    edit(cluster.nodes[0]).metadata.creationTimestamp = api::Time::parse("2026-01-01T00:00:00Z");
    edit(cluster.nodes[1]).metadata.creationTimestamp = api::Time::parse("2026-01-02T00:00:00Z");
    cluster.nodes[1].pods = {PodBuilder("fills", "100")};
    CHECK(machines(cluster) == 2);
    cluster.pools[0].volume_limits["csi.test"] = 4;
    CHECK(machines(cluster) == 1);
    cluster.nodes.clear();
    cluster.pools[0].volume_limits["csi.test"] = 1;
    CHECK(machines(cluster) == 4);
}

TEST_CASE("what former nodes of a pool could attach counts while no node of it knows the driver") {
    auto cluster = pods_with_volumes(4);
    cluster.pools[0].learned_volume_limits["csi.test"] = 2;
    CHECK(machines(cluster) == 2);
    cluster.nodes = {node_of_pool("young", 4)};
    cluster.nodes[0].pods = {PodBuilder("fills", "100")};
    CHECK(machines(cluster) == 1);
    cluster.nodes.clear();
    cluster.pools[0].volume_limits["csi.test"] = 1;
    CHECK(machines(cluster) == 4);
}

TEST_CASE("a machine that is coming gets no more volumes than it will be able to attach") {
    auto cluster = pods_with_volumes(5);
    cluster.pools[0].volume_limits["csi.test"] = 2;
    cluster.nodes = {node("comes")};
    cluster.nodes[0].pool = 0;
    cluster.nodes[0].availability = scheduling::Availability::coming;
    CHECK(machines(cluster) == 2);
    cluster.nodes[0].csi = attaches(4);
    CHECK(machines(cluster) == 1);
}

TEST_CASE("a claim that several pods share is attached to a new machine once") {
    auto cluster = pods_with_volumes(6);
    cluster.pools[0].volume_limits["csi.test"] = 1;
    for (auto& pod : cluster.pods) {
        auto shared = *pod;
        shared.spec.volumes->at(0).persistentVolumeClaim->claimName = "data-0";
        pod = std::make_shared<const api::Pod>(shared);
    }
    CHECK(machines(cluster) == 1);
}

TEST_CASE("a pod with more volumes than any machine attaches is told so") {
    auto cluster = pods_with_volumes(2);
    auto both = *cluster.pods[0];
    both.spec.volumes->push_back(cluster.pods[1]->spec.volumes->at(0));
    cluster.pods = {std::make_shared<const api::Pod>(both)};
    cluster.pools[0].volume_limits["csi.test"] = 1;
    const auto result = solve(cluster);
    CHECK(result.claims.empty());
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          std::vector<std::string>{"pool small: the pod has 2 volumes of driver csi.test, and its machines "
                                   "can attach 1 (CSINode or status.learnedVolumeLimits, unless "
                                   "machineTemplate.volumeLimits of the pool states it)"});
}

TEST_CASE("a node that does not run the driver of a volume takes the pod only if no driver is required") {
    auto cluster = pods_with_volumes(1);
    cluster.nodes = {node("of-others")};
    CHECK(machines(cluster) == 0);
    require_driver(cluster);
    CHECK(machines(cluster) == 1);
    cluster.nodes[0].csi = attaches(3);
    CHECK(machines(cluster) == 0);
}

TEST_CASE(
    "a young node without the driver is waited for, and an older one shows that a new one would lack it") {
    auto cluster = pods_with_volumes(1);
    require_driver(cluster);
    cluster.nodes = {node("first")};
    cluster.nodes[0].pool = 0;
    cluster.nodes[0].is_settling = true;
    CHECK(machines(cluster) == 0);
    cluster.nodes[0].is_settling = false;
    const auto result = solve(cluster);
    CHECK(result.claims.empty());
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          std::vector<std::string>{
              "pool small: its youngest node does not run the CSI driver csi.test, without "
              "which no pod with such a volume is scheduled (preventPodSchedulingIfMissing): "
              "let the driver's DaemonSet run on the pool's nodes"});
    cluster.nodes[0].is_of_present_template = false;
    CHECK(machines(cluster) == 1);
}

namespace {

// Attaches a volume of the driver to the node, without a pod.
void attach(scheduling::Snapshot& cluster, const std::string& node, const std::string& name) {
    auto volume = std::make_shared<api::PersistentVolume>();
    volume->metadata.name = name;
    volume->spec.csi.emplace().driver = "csi.test";
    cluster.volumes.volumes.push_back(volume);
    auto attachment = std::make_shared<api::VolumeAttachment>();
    attachment->spec.nodeName = node;
    attachment->spec.source.persistentVolumeName = name;
    cluster.volumes.attachments.push_back(attachment);
}

}  // namespace

TEST_CASE("a volume that stays attached to a node after its pods takes a place there") {
    auto cluster = pods_with_volumes(1);
    cluster.nodes = {node("theirs")};
    cluster.nodes[0].csi = attaches(2);
    attach(cluster, "theirs", "left-1");
    attach(cluster, "elsewhere", "left-2");
    CHECK(machines(cluster) == 0);
    attach(cluster, "theirs", "left-3");
    CHECK(machines(cluster) == 1);
}

TEST_CASE("an attached volume that a pod of the node uses is counted once") {
    auto cluster = pods_with_volumes(1);
    cluster.nodes = {node("theirs")};
    cluster.nodes[0].csi = attaches(2);
    attach(cluster, "theirs", "used");
    auto claim = std::make_shared<api::PersistentVolumeClaim>();
    claim->metadata.name = "of-user";
    claim->metadata.namespace_ = "default";
    claim->spec.volumeName = "used";
    cluster.volumes.claims.push_back(claim);
    PodBuilder user("user", "100m");
    user.pod.spec.volumes->emplace_back().persistentVolumeClaim.emplace().claimName = "of-user";
    cluster.nodes[0].pods = {user};
    CHECK(machines(cluster) == 0);
}
