// Where volumes let pods be, and how many of them a node holds.
#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"

using namespace builders;
using scheduling::solve;

namespace {

const std::string kZone(api::labels::kZone);
using Reasons = std::vector<std::string>;

std::shared_ptr<api::PersistentVolumeClaim> claim(const std::string& name) {
    auto made = std::make_shared<api::PersistentVolumeClaim>();
    made->metadata.name = name;
    made->metadata.namespace_ = "default";
    made->spec.storageClassName = "late";
    made->status.phase = "Pending";
    return made;
}

std::shared_ptr<api::StorageClass> storage_class() {
    auto made = std::make_shared<api::StorageClass>();
    made->metadata.name = "late";
    made->provisioner = "csi.test";
    made->volumeBindingMode = api::VolumeBindingMode::WaitForFirstConsumer;
    return made;
}

std::shared_ptr<api::PersistentVolume> volume_in(const std::string& name, const std::string& zone) {
    auto made = std::make_shared<api::PersistentVolume>();
    made->metadata.name = name;
    made->spec.csi = {"csi.test", name};
    auto& required = made->spec.nodeAffinity.emplace().required.emplace();
    required.nodeSelectorTerms.emplace_back().matchExpressions = {in(kZone, {zone})};
    return made;
}

PodBuilder with_volume(const std::string& name, const std::string& claim_name) {
    PodBuilder pod(name);
    auto& volume = pod.pod.spec.volumes.emplace_back();
    volume.name = "data";
    volume.persistentVolumeClaim.emplace().claimName = claim_name;
    return pod;
}

std::shared_ptr<const api::CSINode> holds(int volumes) {
    auto csi = std::make_shared<api::CSINode>();
    csi->spec.drivers.push_back({"csi.test", "id", {}, api::VolumeNodeResources{volumes}});
    return csi;
}

// Two zones; a claim "data" for which no volume is made yet.
scheduling::Snapshot cluster_with_claim() {
    auto cluster = snapshot();
    add_places(cluster, {"host-b"});
    cluster.volumes.claims = {claim("data")};
    cluster.volumes.classes = {storage_class()};
    cluster.pods = {with_volume("p", "data")};
    return cluster;
}

}  // namespace

TEST_CASE("a machine is bought where the pod's volume is") {
    auto cluster = cluster_with_claim();
    auto bound = claim("data");
    bound->spec.volumeName = "v";
    cluster.volumes.claims = {bound};
    cluster.volumes.volumes = {volume_in("v", "host-b")};
    auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(cluster.places[result.claims[0].place].name == "host-b");
    cluster.volumes.volumes = {volume_in("v", "elsewhere")};
    result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          Reasons{"pool small: its nodes are not where the pod's volumes can be used"});
}

TEST_CASE("a volume that is made for its first consumer follows the topologies of its class") {
    auto cluster = cluster_with_claim();
    auto late = storage_class();
    late->allowedTopologies.push_back({{{kZone, {"host-b"}}}});
    cluster.volumes.classes = {late};
    const auto result = solve(cluster);
    REQUIRE(result.claims.size() == 1);
    CHECK(cluster.places[result.claims[0].place].name == "host-b");
}

TEST_CASE("nothing is bought for a pod whose volume cannot come to be") {
    auto cluster = cluster_with_claim();
    const auto reason = [&] {
        const auto result = solve(cluster);
        return result.unplaced.size() == 1 ? result.unplaced[0].reasons[0] : std::string("placed");
    };
    auto at_once = storage_class();
    at_once->volumeBindingMode = api::VolumeBindingMode::Immediate;
    cluster.volumes.classes = {at_once};
    CHECK(reason() == "pool small: volume claim data is not bound yet");
    cluster.volumes.claims.clear();
    CHECK(reason() == "pool small: its volume claim data does not exist");
    auto lost = claim("data");
    lost->status.phase = "Lost";
    cluster.volumes.claims = {lost};
    CHECK(reason() == "pool small: its volume claim data has lost its volume");
}

TEST_CASE("a node holds as many volumes as its driver says, those that are there already included") {
    auto cluster = cluster_with_claim();
    cluster.volumes.claims = {claim("data"), claim("other")};
    cluster.nodes = {node("full")};
    cluster.nodes[0].pods = {with_volume("old", "other")};
    cluster.nodes[0].csi = holds(1);
    CHECK(target_of(cluster, solve(cluster), "p") == "claim 0");
    cluster.nodes[0].csi = holds(2);
    CHECK(target_of(cluster, solve(cluster), "p") == "full");
    cluster.nodes[0].csi = holds(1);
    cluster.pods = {with_volume("same", "other"), PodBuilder("plain")};
    CHECK(solve(cluster).claims.empty());
}
