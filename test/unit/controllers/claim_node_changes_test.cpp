#include "controllers/claim/facts/node_changes.hpp"

#include "controllers/claim/facts/label_upkeep.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

namespace {

using namespace controllers;
using namespace controllers::claim;

const std::string kClaimLabel(api::labels::kClaim);

struct Scene {
    NodeSmithPool pool = objects::pool("p");
    NodeSmithClaim claim = objects::created_claim("c", pool, 1);
    api::Node node = objects::node("c");

    Scene() {
        claim.status.host = "pve1";
        claim.status.zone = "rack-1";
        claim.status.providerRef = "proxmox";
        claim.status.providerID = "proxmox://lab/vms/101";
    }
    NodeOrigin origin() const { return {claim, &pool, "topology.kubernetes.io/zone"}; }
};

api::Taint taint(const std::string& key, const std::string& effect = "NoSchedule") {
    return {key, "", effect, {}};
}

bool has(const api::Node& node, const std::string& key) {
    return std::any_of(node.spec.taints.begin(), node.spec.taints.end(),
                       [&](const auto& t) { return t.key == key; });
}

TEST_CASE("labels say where the Node belongs and no template can override that") {
    Scene scene;
    scene.pool.spec.machineTemplate.labels = {{"on", "{{ .Host }}-{{.Zone}}"},
                                              {"node-role.kubernetes.io/worker", ""},
                                              {kClaimLabel, "wrong"},
                                              {scene.pool.spec.poolLabelKey, "wrong"}};
    scene.claim.spec.labels = {{"of", "{{ .Pool }}/{{ .Provider }}/{{ .Claim }}"},
                               {"odd", "{{ .Unknown }} {{"}};
    auto labels = node_labels(scene.origin());
    CHECK(labels.at("on") == "pve1-rack-1");
    CHECK(labels.at("of") == "p/proxmox/c");
    CHECK(labels.at("odd") == "{{ .Unknown }} {{");
    CHECK(labels.contains("node-role.kubernetes.io/worker"));
    CHECK(labels.at(kClaimLabel) == "c");
    CHECK(labels.at(scene.pool.spec.poolLabelKey) == "p");
    CHECK(labels.at("kubenodesmith.io/host") == "pve1");
    CHECK(labels.at("topology.kubernetes.io/zone") == "rack-1");
}

TEST_CASE("registering keeps what others wrote, and lets pods in") {
    Scene scene;
    scene.node.metadata.labels["theirs"] = "1";
    scene.node.spec.taints = {taint("theirs"), taint("kubenodesmith.io/unregistered", "NoExecute")};
    scene.pool.spec.machineTemplate.taints = {taint("dedicated")};
    scene.pool.spec.machineTemplate.annotations = {{"note", "on {{ .Host }}"}};
    auto result = registered(scene.node, scene.origin());
    CHECK(result.metadata.labels->at("theirs") == "1");
    CHECK(result.metadata.annotations->at("note") == "on pve1");
    CHECK(has(result, "theirs"));
    CHECK(has(result, "dedicated"));
    CHECK_FALSE(has(result, "kubenodesmith.io/unregistered"));
    CHECK(result.spec.providerID == "proxmox://lab/vms/101");
    CHECK(registered(result, scene.origin()) == result);
}

TEST_CASE("startup taints are given once, and only to Nodes that did not join with them") {
    Scene scene;
    scene.pool.spec.machineTemplate.startupTaints = {taint("cni")};
    scene.claim.spec.startupTaints = {taint("storage")};
    auto result = registered(scene.node, scene.origin());
    CHECK(has(result, "cni"));
    CHECK(has(result, "storage"));
    std::erase_if(result.spec.taints, [](const api::Taint& t) { return t.key == "cni"; });
    CHECK_FALSE(has(registered(result, scene.origin()), "cni"));

    scene.node.spec.taints = {taint("kubenodesmith.io/unregistered", "NoExecute")};
    CHECK_FALSE(has(registered(scene.node, scene.origin()), "cni"));
}

TEST_CASE("providerID is left to a cloud controller that is expected, and never changed") {
    Scene scene;
    scene.node.spec.taints = {taint("node.cloudprovider.kubernetes.io/uninitialized")};
    CHECK(registered(scene.node, scene.origin()).spec.providerID.empty());
    scene.node.spec.taints.clear();
    scene.node.spec.providerID = "proxmox://region/101";
    CHECK(registered(scene.node, scene.origin()).spec.providerID == "proxmox://region/101");
}

TEST_CASE("a Node without an instance type gets the size of its machine as its type") {
    Scene scene;
    const auto type = [&scene] {
        const auto result = registered(scene.node, scene.origin());
        const auto* found = api::find(result.metadata.labels, "node.kubernetes.io/instance-type");
        return found ? *found : std::string();
    };
    scene.claim.status.size = "";
    CHECK(type().empty());
    scene.claim.status.size = "4c/8Gi";
    CHECK(type() == "4c-8Gi");
    CHECK(deviations(registered(scene.node, scene.origin()), scene.origin()).empty());
    scene.node.spec.taints = {taint("node.cloudprovider.kubernetes.io/uninitialized")};
    CHECK(type().empty());
    scene.node.spec.taints.clear();
    scene.node.metadata.labels["node.kubernetes.io/instance-type"] = "of the cloud controller manager";
    CHECK(type() == "of the cloud controller manager");
    scene.pool.spec.machineTemplate.labels["node.kubernetes.io/instance-type"] = "of the pool";
    CHECK(type() == "of the pool");
}

TEST_CASE("a size that is no value of a label is no instance type") {
    Scene scene;
    scene.claim.status.size =
        GENERATE(as<std::string>(), "-4c", "4c/", "4c 8Gi", "4c/8Gi\n", "x", std::string(64, '4'));
    CHECK_FALSE(
        registered(scene.node, scene.origin()).metadata.labels->contains("node.kubernetes.io/instance-type"));
}

TEST_CASE("a Node gets the region of its provider unless somebody has told it another one") {
    Scene scene;
    auto provider = objects::provider("proxmox");
    CHECK(region_of(&provider).empty());
    provider.spec.proxmox->region = "home-1";
    const auto region = [&scene, &provider] {
        auto origin = scene.origin();
        origin.region = region_of(&provider);
        const auto result = registered(scene.node, origin);
        const auto* found = api::find(result.metadata.labels, "topology.kubernetes.io/region");
        return found ? *found : std::string();
    };
    CHECK(region() == "home-1");
    scene.node.metadata.labels["topology.kubernetes.io/region"] = "of the cloud controller manager";
    CHECK(region() == "of the cloud controller manager");
    scene.pool.spec.machineTemplate.labels["topology.kubernetes.io/region"] = "of the pool";
    CHECK(region() == "of the pool");
    scene.pool.spec.machineTemplate.labels.clear();
    scene.node.metadata.labels->clear();
    provider.spec.proxmox->region.clear();
    CHECK(region().empty());
}

TEST_CASE("a leaving Node takes no new pods and no new connections, and a user's cordon stays") {
    Scene scene;
    scene.node.spec.unschedulable = true;
    auto result = leaving(scene.node, scene.origin());
    CHECK(api::find_taint(result.spec.taints, "kubenodesmith.io/disrupted", "NoSchedule"));
    CHECK(result.metadata.labels->contains("node.kubernetes.io/exclude-from-external-load-balancers"));
    CHECK(result.metadata.labels->at(kClaimLabel) == "c");
    CHECK(result.spec.unschedulable);
    CHECK(leaving(result, scene.origin()) == result);
}

TEST_CASE("a Node that a person excluded from load balancers stays excluded when it is back in service") {
    constexpr const char* kExclusion = "node.kubernetes.io/exclude-from-external-load-balancers";
    Scene scene;
    auto& labels = *scene.node.metadata.labels;
    const auto back = [&scene] {
        return controllers::disruption::back_in_service(leaving(scene.node, scene.origin())).metadata.labels;
    };
    CHECK_FALSE(back()->contains(kExclusion));
    for (const auto* value : {"true", ""}) {
        labels[kExclusion] = value;
        CHECK(back()->at(kExclusion) == value);
        CHECK(released(leaving(scene.node, scene.origin())).metadata.labels->at(kExclusion) == value);
    }
}

TEST_CASE("taints that are not kept are not lost when others of the list change") {
    const std::vector<api::Taint> live{taint("a"), taint("b"), taint("c"), taint("d")};
    const std::vector<api::Taint> kept{taint("a"), taint("b")};
    // One taint is removed and one added. A third already exists, but the operator has not seen it.
    const auto written = with_changes(live, kept, {taint("b"), taint("new"), taint("d")});
    CHECK(written == std::vector<api::Taint>{taint("b"), taint("c"), taint("d"), taint("new")});
    CHECK(with_changes(live, kept, kept) == live);
}

TEST_CASE("the zone label has the key that the provider names") {
    auto provider = objects::provider("proxmox");
    CHECK(zone_label(&provider) == "topology.kubernetes.io/zone");
    provider.spec.proxmox->placement.zoneLabel = "";
    CHECK(zone_label(&provider).empty());
    Scene scene;
    auto labels = node_labels({scene.claim, &scene.pool, ""});
    CHECK_FALSE(labels.contains("topology.kubernetes.io/zone"));
}

}  // namespace
