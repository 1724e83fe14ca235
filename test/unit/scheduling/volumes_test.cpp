// Tests where volumes let pods run, and how many of them a node holds.
#include "scheduling/removal.hpp"
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
    made->spec.csi.emplace().driver = "csi.test";
    auto& required = made->spec.nodeAffinity.emplace().required.emplace();
    required.nodeSelectorTerms.emplace_back().matchExpressions = {in(kZone, {zone})};
    return made;
}

PodBuilder with_volume(const std::string& name, const std::string& claim_name) {
    PodBuilder pod(name);
    auto& volume = pod.pod.spec.volumes->emplace_back();
    volume.name = "data";
    volume.persistentVolumeClaim.emplace().claimName = claim_name;
    return pod;
}

std::shared_ptr<const api::CSINode> holds(int volumes) {
    auto csi = std::make_shared<api::CSINode>();
    csi->spec.drivers.push_back({"csi.test", "", {}, api::VolumeNodeResources{volumes}});
    return csi;
}

// Returns a volume that was made beforehand, of a class that makes none itself.
std::shared_ptr<api::PersistentVolume> local_volume(const std::string& name, const std::string& node = "") {
    auto made = std::make_shared<api::PersistentVolume>();
    made->metadata.name = name;
    made->spec.storageClassName = "late";
    made->spec.capacity["storage"] = quantity("10Gi");
    made->status.phase = "Available";
    if (node.empty()) return made;
    auto& required = made->spec.nodeAffinity.emplace().required.emplace();
    required.nodeSelectorTerms.emplace_back().matchExpressions = {
        in(std::string(api::labels::kHostname), {node})};
    return made;
}

// Returns two zones and a claim "data" whose volume is not made yet.
scheduling::Snapshot cluster_with_claim() {
    auto cluster = snapshot();
    add_places(cluster, {"host-b"});
    cluster.volumes.claims = {claim("data")};
    cluster.volumes.classes = {storage_class()};
    cluster.pods = {with_volume("p", "data")};
    return cluster;
}

}  // namespace

TEST_CASE("a machine is launched where the pod's volume is") {
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
          Reasons{"pool small: its nodes are not where the pod's volumes can be used: volume v of its claim "
                  "data needs label topology.kubernetes.io/zone=elsewhere"});
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

TEST_CASE("nothing is launched for a pod whose volume cannot be created") {
    auto cluster = cluster_with_claim();
    const auto reason = [&] {
        const auto result = solve(cluster);
        return result.unplaced.size() == 1 ? result.unplaced[0].reasons[0] : std::string("placed");
    };
    auto at_once = storage_class();
    at_once->volumeBindingMode = api::VolumeBindingMode::Immediate;
    cluster.volumes.classes = {at_once};
    CHECK(reason() ==
          "volume claim data is not bound yet: its storage class late binds it at once (Immediate), so look "
          "at driver " +
              at_once->provisioner + " (kubectl describe pvc data)");
    cluster.volumes.claims.clear();
    CHECK(reason() == "its volume claim data does not exist: create it, or correct the pod's volumes");
    auto lost = claim("data");
    lost->status.phase = "Lost";
    cluster.volumes.claims = {lost};
    CHECK(reason() ==
          "its volume claim data has lost its volume: restore the volume, or create the claim anew");
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

TEST_CASE("a claim for one pod alone that another pod uses makes a pod unschedulable, whatever is launched") {
    auto cluster = cluster_with_claim();
    auto alone = claim("data");
    alone->spec.accessModes = {"ReadWriteOncePod"};
    cluster.volumes.claims = {alone};
    cluster.nodes = {node("a")};
    cluster.pools.push_back(pool("other"));
    CHECK(target_of(cluster, solve(cluster), "p") == "a");
    cluster.nodes[0].pods = {with_volume("user", "data")};
    auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          Reasons{"its volume claim data is in use by pod user, and only one pod may use it "
                  "(ReadWriteOncePod)"});
    CHECK(result.claims.empty());
    auto finished = with_volume("user", "data");
    finished.pod.status.phase = api::PodPhase::Succeeded;
    cluster.nodes[0].pods = {finished};
    CHECK(target_of(cluster, solve(cluster), "p") == "a");
}

TEST_CASE("of two pods that wait for a claim for one pod alone, one gets a machine") {
    auto cluster = cluster_with_claim();
    auto alone = claim("data");
    alone->spec.accessModes = {"ReadWriteOncePod"};
    cluster.volumes.claims = {alone};
    cluster.pods = {with_volume("p", "data"), with_volume("q", "data")};
    const auto result = solve(cluster);
    CHECK(result.claims.size() == 1);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons == Reasons{"its volume claim data is planned for another pending pod, "
                                                "and only one pod may use it (ReadWriteOncePod)"});
}

TEST_CASE("a pod moves with its claim for one pod alone when its node goes") {
    auto cluster = cluster_with_claim();
    auto alone = claim("data");
    alone->spec.accessModes = {"ReadWriteOncePod"};
    cluster.volumes.claims = {alone};
    cluster.pods.clear();
    cluster.nodes = {node("a"), node("b")};
    cluster.nodes[0].pods = {with_volume("user", "data")};
    CHECK(scheduling::simulate_removal(cluster, {{0}}).possible);
}

TEST_CASE("a claim of a class that makes no volumes needs one that is there, where it is") {
    auto cluster = cluster_with_claim();
    auto none = storage_class();
    none->provisioner = "kubernetes.io/no-provisioner";
    cluster.volumes.classes = {none};
    cluster.nodes = {node("a"), node("b")};
    auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          Reasons{"no volume is available for its volume claim data, whose "
                  "storage class late does not create any: create a PersistentVolume"});

    cluster.volumes.volumes = {local_volume("on-b", "b")};
    CHECK(target_of(cluster, solve(cluster), "p") == "b");
    cluster.nodes.pop_back();
    result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          Reasons{"pool small: its nodes are not where the pod's volumes can be used: a volume of "
                  "storage class late for its claim "
                  "data needs label kubernetes.io/hostname=b"});
    CHECK(result.claims.empty());
    cluster.volumes.volumes = {local_volume("everywhere")};
    cluster.nodes.clear();
    CHECK(solve(cluster).claims.size() == 1);
}

TEST_CASE("a volume made beforehand serves only a claim that it suits") {
    auto cluster = cluster_with_claim();
    auto none = storage_class();
    none->provisioner = "kubernetes.io/no-provisioner";
    cluster.volumes.classes = {none};
    auto wish = claim("data");
    wish->spec.accessModes = {"ReadWriteOnce"};
    wish->spec.resources.requests["storage"] = quantity("10Gi");
    wish->spec.selector.emplace().matchLabels = {{"tier", "fast"}};
    cluster.volumes.claims = {wish};
    auto volume = local_volume("v");
    volume->spec.accessModes = {"ReadWriteOnce", "ReadOnlyMany"};
    volume->metadata.labels = {{"tier", "fast"}};
    const auto serves = [&](auto change) {
        auto changed = std::make_shared<api::PersistentVolume>(*volume);
        change(*changed);
        cluster.volumes.volumes = {changed};
        return solve(cluster).unplaced.empty();
    };
    CHECK(serves([](auto&) {}));
    CHECK_FALSE(serves([](auto& v) { v.metadata.labels->clear(); }));
    CHECK_FALSE(serves([](auto& v) { v.spec.accessModes = {"ReadOnlyMany"}; }));
    CHECK_FALSE(serves([](auto& v) { v.spec.capacity["storage"] = quantity("9Gi"); }));
    CHECK_FALSE(serves([](auto& v) { v.spec.volumeMode = "Block"; }));
    CHECK_FALSE(serves([](auto& v) { v.spec.storageClassName = "other"; }));
    CHECK_FALSE(serves([](auto& v) { v.status.phase = "Released"; }));
    CHECK_FALSE(serves([](auto& v) { v.spec.claimRef = {"v1", "PersistentVolumeClaim", "default", "x"}; }));
    CHECK(serves([](auto& v) {  // reserved for the claim by name: its labels and class don't matter
        v.spec.claimRef = {"v1", "PersistentVolumeClaim", "default", "data"};
        v.metadata.labels->clear();
    }));
}

TEST_CASE("each volume made beforehand serves one of the pods that wait") {
    auto cluster = cluster_with_claim();
    auto none = storage_class();
    none->provisioner = "kubernetes.io/no-provisioner";
    cluster.volumes.classes = {none};
    cluster.volumes.claims = {claim("one"), claim("two"), claim("three")};
    cluster.pods = {with_volume("p", "one"), with_volume("q", "two"), with_volume("r", "three")};
    cluster.nodes = {node("a"), node("b")};
    cluster.volumes.volumes = {local_volume("on-a", "a"), local_volume("on-b", "b")};
    const auto result = solve(cluster);
    CHECK(result.placements.size() == 2);
    CHECK(target_of(cluster, result, "p") != target_of(cluster, result, "q"));
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.claims.empty());

    cluster.nodes.clear();
    cluster.volumes.volumes = {local_volume("somewhere"), local_volume("anywhere")};
    const auto launched = solve(cluster);
    CHECK(launched.placements.size() == 2);
    REQUIRE(launched.unplaced.size() == 1);
    CHECK(launched.unplaced[0].reasons ==
          Reasons{"pool small: other pending pods get the volumes that the pod could use there"});
}

TEST_CASE("pods that share a claim use the one volume that it gets") {
    auto cluster = cluster_with_claim();
    auto none = storage_class();
    none->provisioner = "kubernetes.io/no-provisioner";
    cluster.volumes.classes = {none};
    cluster.pods = {with_volume("p", "data"), with_volume("q", "data"), with_volume("r", "other")};
    cluster.volumes.claims = {claim("data"), claim("other")};
    cluster.nodes = {node("a"), node("b")};
    cluster.volumes.volumes = {local_volume("on-a", "a"), local_volume("on-b", "b")};
    const auto result = solve(cluster);
    CHECK(result.unplaced.empty());
    CHECK(target_of(cluster, result, "p") == target_of(cluster, result, "q"));
    CHECK(target_of(cluster, result, "p") != target_of(cluster, result, "r"));
}

TEST_CASE("a volume in the only zone that there is binds its machine to that zone") {
    auto cluster = cluster_with_claim();
    cluster.pools[0].places.pop_back();
    CHECK(solve(cluster).claims.at(0).zone.empty());
    auto bound = claim("data");
    bound->spec.volumeName = "v";
    cluster.volumes.claims = {bound};
    cluster.volumes.volumes = {volume_in("v", "host-a")};
    CHECK(solve(cluster).claims.at(0).zone == "host-a");
}

TEST_CASE("where the host of a volume is full, the volume and the host are named") {
    auto cluster = cluster_with_claim();
    auto bound = claim("data");
    bound->spec.volumeName = "v";
    cluster.volumes.claims = {bound};
    cluster.volumes.volumes = {volume_in("v", "host-b")};
    cluster.places[1].free_cpu_cores = 0;
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(
        result.unplaced[0].reasons ==
        Reasons{"pool small: no host that suits the pod (host-b) has room for a machine with 1 CPU and "
                "1 GiB; volume v of its claim data needs label topology.kubernetes.io/zone=host-b: free room "
                "there"});
}

TEST_CASE("a label that the pool's provider is to set is named with what is said of it") {
    auto cluster = cluster_with_claim();
    auto bound = claim("data");
    bound->spec.volumeName = "v";
    cluster.volumes.claims = {bound};
    auto volume = volume_in("v", "host-b");
    volume->spec.nodeAffinity->required->nodeSelectorTerms[0].matchExpressions.push_back(
        in("topology.kubernetes.io/region", {"north", "south"}));
    cluster.volumes.volumes = {volume};
    cluster.pools[0].notes_on_labels["topology.kubernetes.io/region"] = "the region is not set";
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(
        result.unplaced[0].reasons ==
        Reasons{"pool small: its nodes are not where the pod's volumes can be used: volume v of its claim "
                "data needs label topology.kubernetes.io/region in (north, south) (the region is not set)"});
}

TEST_CASE("a claim that is to be made for a node that is gone is named with its annotation") {
    auto cluster = cluster_with_claim();
    auto annotated = claim("data");
    annotated->metadata.annotations[std::string(api::annotations::kSelectedNode)] = "gone";
    cluster.volumes.claims = {annotated};
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          Reasons{"its volume claim data waits for a volume on node gone, which does not exist: remove the "
                  "claim's annotation volume.kubernetes.io/selected-node, or delete the claim"});
    cluster.nodes = {node("gone")};
    CHECK(target_of(cluster, solve(cluster), "p") == "gone");
}

TEST_CASE("a generic ephemeral volume does not use a claim that somebody else made") {
    auto cluster = cluster_with_claim();
    PodBuilder pod("p");
    auto& volume = pod.pod.spec.volumes->emplace_back();
    volume.name = "data";
    volume.ephemeral.emplace();
    cluster.pods = {pod};
    auto of_stranger = claim("p-data");
    cluster.volumes.claims = {of_stranger};
    const auto result = solve(cluster);
    REQUIRE(result.unplaced.size() == 1);
    CHECK(result.unplaced[0].reasons ==
          Reasons{"its volume claim p-data was not created for it: delete the claim, or rename the pod's "
                  "ephemeral volume"});
    auto own = claim("p-data");
    auto& owner = own->metadata.ownerReferences->emplace_back();
    owner.uid = cluster.pods[0]->metadata.uid;
    owner.controller = true;
    cluster.volumes.claims = {own};
    CHECK(solve(cluster).unplaced.empty());
}

TEST_CASE("the reason names what an unbound claim waits for") {
    auto cluster = cluster_with_claim();
    const auto reason = [&] {
        const auto result = solve(cluster);
        return result.unplaced.size() == 1 ? result.unplaced[0].reasons[0] : std::string("placed");
    };
    auto unbound = claim("data");
    cluster.volumes.claims = {unbound};
    cluster.nodes = {node("full", "0")};
    unbound->metadata.annotations[std::string(api::annotations::kSelectedNode)] = "full";
    CHECK(reason() ==
          "pool small: its nodes are not where the pod's volumes can be used: a volume of storage "
          "class late for its claim data needs node full (annotation volume.kubernetes.io/selected-node of "
          "the claim: remove it to let the "
          "volume be elsewhere)");
    unbound->metadata.annotations.reset();
    unbound->spec.storageClassName = "unknown";
    CHECK(reason() ==
          "volume claim data is not bound and its storage class unknown does not exist: create it, or name "
          "another");
    unbound->spec.storageClassName = "";
    CHECK(reason() ==
          "volume claim data is not bound and waits for a volume that somebody creates, as it wants no "
          "storage class (storageClassName: \"\")");
    unbound->spec.storageClassName.reset();
    CHECK(reason() ==
          "volume claim data is not bound and has no storage class, and none is marked as the default: name "
          "one, or mark one with storageclass.kubernetes.io/is-default-class");
}
