// Tests what a plan reports about nodes with volumes on their disks.
#include "operator/explain/explain.hpp"
#include "operator/plan/plan_text.hpp"
#include "test/support/catch.hpp"
#include "test/unit/plan/picture.hpp"

using namespace kubenodesmith;
using namespace test;
using Catch::Contains;

namespace {

const std::string kCluster(kPool);
const std::string kHostname = "kubernetes.io/hostname";

struct VolumeText {
    std::string key = kHostname;
    std::string value = "tools-aaaaa";
    std::string source = "hostPath: {path: /var/lib/volumes/d0}";
    std::string phase = "Bound";
    std::string policy = "Delete";
    std::string claim_metadata;  // further metadata of the claim, after a comma
};

std::string volume(const VolumeText& text) {
    return R"(
apiVersion: v1
kind: PersistentVolume
metadata: {name: lp0}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 10Gi}
  storageClassName: local-path
  persistentVolumeReclaimPolicy: )" +
           text.policy + R"(
  claimRef: {namespace: shop, name: d0, uid: pvc-d0}
  )" + text.source +
           R"(
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: )" +
           text.key + ", operator: In, values: [" + text.value + R"(]}]}]}}
status: {phase: )" +
           text.phase + "}\n";
}

std::string claim(const VolumeText& text) {
    return R"(---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: d0, namespace: shop, uid: pvc-d0)" +
           text.claim_metadata + R"(}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: local-path
  resources: {requests: {storage: 10Gi}}
  volumeName: lp0
status: {phase: Bound}
)";
}

Plan plan_with(const VolumeText& text, const std::string& more = "") {
    std::vector<std::string> texts{kCluster, node_in_service(), volume(text)};
    if (text.phase == "Bound") texts.push_back(claim(text));
    if (!more.empty()) texts.push_back(more);
    return make_plan(*picture(texts));
}

}  // namespace

TEST_CASE("an empty node with a bound volume on its disk is kept, and the plan names volume and claim") {
    VolumeText text;
    SECTION("of a provisioner of local paths") {}
    SECTION("made by hand of a disk") {
        text.source = "local: {path: /mnt/disk1}";
    }
    SECTION("of a driver with a label of its own") {
        text.source = "csi: {driver: lvm.example, volumeHandle: lp0}";
        text.key = "topology.lvm.example/node";
    }
    SECTION("of a driver with an ID of its own") {
        text.source = "csi: {driver: lvm.example, volumeHandle: lp0}";
        text.key = "topology.lvm.example/node";
        text.value = "id-7";
        const auto plan = plan_with(text, R"(
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: tools-aaaaa}
spec: {drivers: [{name: lvm.example, nodeID: id-7, topologyKeys: [topology.lvm.example/node]}]}
)");
        CHECK_THAT(table_of(plan), Contains("keep node tools-aaaaa: volume lp0"));
        return;
    }
    const auto plan = plan_with(text);
    REQUIRE(plan.nodes.size() == 1);
    CHECK(plan.nodes.front().empty);
    CHECK_FALSE(plan.nodes.front().possible);
    CHECK_FALSE(plan.changes_something());
    CHECK_THAT(table_of(plan),
               Contains("keep node tools-aaaaa: volume lp0 (PersistentVolumeClaim shop/d0) can "
                        "be used on this node only"));
}

TEST_CASE("a node whose pods fit elsewhere is kept for a volume that none of them uses") {
    auto other = node_in_service();
    for (const std::string name : {"tools-aaaaa", "claim-1", "node-1", "\"1001\""})
        for (std::size_t at = 0; (at = other.find(name, at)) != std::string::npos; at += name.size())
            other[at + name.size() - (name.back() == '"' ? 2 : 1)] = name.back() == '"' ? '2' : 'b';
    other.replace(other.find("000000000001"), 12, "000000000002");
    other.replace(other.rfind("000000000001"), 12, "000000000002");
    const auto plan = make_plan(*picture(
        {kCluster, node_in_service(), other, running_pod(), volume(VolumeText{}), claim(VolumeText{})}));
    REQUIRE(plan.nodes.size() == 2);
    CHECK_FALSE(plan.nodes.front().possible);
    CHECK(plan.nodes.back().possible);
}

TEST_CASE("a volume holds no node in a plan if it can be used elsewhere, or its data may be lost") {
    VolumeText text;
    SECTION("in a zone") {
        text.key = "topology.kubernetes.io/zone";
        text.value = "ford";
    }
    SECTION("of a claim that belongs to a pod") {
        text.claim_metadata =
            ", ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: p-1, controller: true}]";
    }
    SECTION("by an annotation") {
        text.claim_metadata = ", annotations: {kubenodesmith.io/local-data: Disposable}";
        CHECK_THAT(table_of(plan_with(text)), Contains("lost with it: volume lp0"));
    }
    SECTION("that is free") {
        text.phase = "Available";
        CHECK_THAT(table_of(plan_with(text)), !Contains("lp0"));
    }
    const auto plan = plan_with(text);
    REQUIRE(plan.nodes.size() == 1);
    CHECK(plan.nodes.front().possible);
}

TEST_CASE("a plan to remove a node names the released volume that was to be kept") {
    VolumeText text;
    text.phase = "Released";
    text.policy = "Retain";
    const auto plan = plan_with(text);
    REQUIRE(plan.nodes.size() == 1);
    CHECK(plan.nodes.front().possible);
    CHECK_THAT(table_of(plan),
               Contains("remove node tools-aaaaa: empty, and nothing needs it; lost with it: volume lp0 "
                        "(Released, Retain; it belonged to PersistentVolumeClaim shop/d0)"));
    CHECK(json_of(plan).at("nodes").at(0).at("lost").as_string().find("lp0") != std::string::npos);
    text.policy = "Delete";
    CHECK_THAT(table_of(plan_with(text)), !Contains("lp0"));
}

TEST_CASE("a pool that discards local volumes lets its nodes go in a plan") {
    std::string pool(kCluster);
    pool.replace(pool.find("  limits:"), 0, "  disruption: {localVolumes: Discard}\n");
    const auto plan =
        make_plan(*picture({pool, node_in_service(), volume(VolumeText{}), claim(VolumeText{})}));
    REQUIRE(plan.nodes.size() == 1);
    CHECK(plan.nodes.front().possible);
}
