// Tests who can make a claim find a foreign Node. A person who may write a status can name machines of others
// in it, and so can root in a guest.
#include "controllers/claim/facts/node_search.hpp"

#include "controllers/claim/facts/identity.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/claim_world.hpp"
#include "test/unit/controllers/cluster.hpp"

namespace {

using namespace claims;
namespace claim = controllers::claim;
namespace conditions = api::conditions;
using api::ConditionStatus;

const std::string kUid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
const std::string kVictim = "4c4c4544-0042-3510-8054-b4c04f4d3131";

// Returns a Node that somebody made.
api::Node stranger(const std::string& name, const std::string& uuid = kVictim) {
    auto node = objects::node(name);
    node.status.nodeInfo.systemUUID = uuid;
    node.spec.providerID = "proxmox://lab/vms/900";
    return node;
}

struct Scene {
    test::Cluster cluster;
    NodeSmithClaim mine;
    api::v1alpha1::NodeSmithProvider provider = objects::provider("proxmox");

    Scene() {
        cluster.put_basics();
        mine = objects::created_claim("mine", objects::pool("small"), 1);
        mine.metadata.uid = kUid;
        mine.status.launchAttempts = 1;
        mine.status.providerRef = "proxmox";
        mine.status.systemUUID = claim::system_uuid(kUid, 1);
        cluster.start();
    }
    ~Scene() { cluster.stop(); }

    api::Node own_node(const std::string& name = "mine") const {
        auto node = objects::node(name);
        node.status.nodeInfo.systemUUID = mine.status.systemUUID;
        return node;
    }
    // Sets the creation time, as a server does.
    void make_claim_later() {
        mine.metadata.creationTimestamp = api::Time(cluster.clock.wall_now() + std::chrono::hours{1});
    }
    claim::FoundNode find(const controllers::HostPointer& host = nullptr) {
        cluster.server.put(mine);
        cluster.run_for(std::chrono::seconds{1});
        return claim::find_node(cluster.informers, mine, &provider, host);
    }
};

api::v1alpha1::NodeSmithHost bare_metal(const std::string& name) {
    api::v1alpha1::NodeSmithHost host;
    host.metadata.name = name;
    host.metadata.namespace_ = "default";
    return host;
}

void label(api::Node& node, const std::string& claim) {
    node.metadata.labels[std::string(api::labels::kClaim)] = claim;
}

}  // namespace

TEST_CASE("the system UUID of a VM is the derived one, whatever the status says") {
    Scene scene;
    scene.mine.status.systemUUID = kVictim;
    const auto noted = std::make_shared<const NodeSmithClaim>(scene.mine);
    CHECK(claim::with_own_uuid(noted, &scene.provider, nullptr)->status.systemUUID ==
          claim::system_uuid(kUid, 1));
    SECTION("a condition alone makes it no adopted one") {
        objects::set_condition(scene.mine.status.conditions, conditions::kAdopted, ConditionStatus::True);
        const auto forged = std::make_shared<const NodeSmithClaim>(scene.mine);
        CHECK(claim::with_own_uuid(forged, &scene.provider, nullptr)->status.systemUUID ==
              claim::system_uuid(kUid, 1));
    }
    SECTION("hardware brings its own, and the host that is the claim's has it") {
        scene.provider.spec.proxmox.reset();
        scene.provider.spec.redfish.emplace();
        CHECK(claim::with_own_uuid(noted, &scene.provider, nullptr) == noted);
        auto begun = scene.mine;
        begun.status.systemUUID = claim::system_uuid(kUid, 1);
        const auto attempt = std::make_shared<const NodeSmithClaim>(begun);
        objects::set_condition(scene.mine.status.conditions, conditions::kLaunched, ConditionStatus::True);
        const auto forged = std::make_shared<const NodeSmithClaim>(scene.mine);
        auto host = std::make_shared<api::v1alpha1::NodeSmithHost>();
        host->status.systemUUID = "4c4c4544-0042-3510-8054-b4c04f4d3132";
        CHECK(claim::with_own_uuid(forged, &scene.provider, host) == forged);
        host->status.claimRef.emplace().uid = kUid;
        for (const auto& wrong : {forged, noted})
            CHECK(claim::with_own_uuid(wrong, &scene.provider, host)->status.systemUUID ==
                  host->status.systemUUID);
        CHECK(claim::with_own_uuid(attempt, &scene.provider, host) == attempt);
    }
}

TEST_CASE("a Node that is older than the claim, of the control plane or another claim's is not taken") {
    Scene scene;
    auto node = scene.own_node();
    std::string why;
    SECTION("older") {
        scene.make_claim_later();
        node.metadata.name = "of-old";
        why = "it is not younger than the claim; if it runs on this claim's machine, label it";
    }
    SECTION("made in the same second, which does not tell which of the two was first") {
        scene.mine.metadata.creationTimestamp = api::Time(scene.cluster.clock.wall_now());
        node.metadata.creationTimestamp = scene.mine.metadata.creationTimestamp;
        node.metadata.name = "of-this-second";
        why = "it is not younger than the claim; if it runs on this claim's machine, label it";
    }
    SECTION("of the control plane") {
        node.metadata.labels["node-role.kubernetes.io/control-plane"] = "";
        why = "it is a node of the control plane; if it runs";
    }
    SECTION("by its label another claim's") {
        scene.cluster.server.put(objects::created_claim("theirs", objects::pool("small"), 1));
        label(node, "theirs");
        why = "its label says that it belongs to claim theirs";
    }
    SECTION("by its name another claim's, as a guest says that it is this one's") {
        scene.cluster.server.put(objects::created_claim("theirs", objects::pool("small"), 1));
        node.metadata.name = "theirs";
        label(node, "mine");
        why = "it has the name of another claim";
    }
    scene.cluster.server.put(node);
    const auto found = scene.find();
    CHECK_FALSE(found.node);
    CHECK(found.refusal.find("Node " + node.metadata.name +
                             " has the machine's system UUID and is left alone: " + why) == 0);
}

TEST_CASE("an older Node is not taken for hardware's because it became Ready since the host was woken") {
    Scene scene;
    scene.provider.spec.proxmox.reset();
    scene.provider.spec.redfish.emplace();
    scene.mine.status.systemUUID = kVictim;
    objects::set_condition(scene.mine.status.conditions, conditions::kLaunched, ConditionStatus::True);
    scene.make_claim_later();
    const auto woken = api::Time(scene.mine.metadata.creationTimestamp->at + std::chrono::minutes{1});
    auto host = std::make_shared<api::v1alpha1::NodeSmithHost>();
    host->status.systemUUID = kVictim;
    host->status.claimRef.emplace().uid = kUid;
    host->metadata.name = "metal-1";
    host->status.wokenTime = woken;
    auto node = stranger("of-old");
    node.metadata.labels[std::string(api::labels::kHost)] = "metal-1";
    label(node, "mine");
    objects::set_condition(node.status.conditions, conditions::kReady, ConditionStatus::True,
                           api::Time(woken.at + std::chrono::minutes{1}));
    scene.cluster.server.put(node);
    const auto found = scene.find(host);
    CHECK_FALSE(found.node);
    CHECK(found.refusal.find("it is not younger than the claim; if it runs on this claim's machine, label it "
                             "node-restriction.kubernetes.io/kubenodesmith-claim=mine") != std::string::npos);
}

TEST_CASE("an older Node with the claim's name is not its Node, whatever its kubelet says") {
    Scene scene;
    scene.make_claim_later();
    auto node = scene.own_node();
    label(node, "mine");
    scene.cluster.server.put(node);
    CHECK_FALSE(scene.find().node);
}

TEST_CASE("a certificate that was approved for its name makes a Node the claim's, whatever the clocks say") {
    Scene scene;
    scene.make_claim_later();
    auto node = scene.own_node();
    label(node, "mine");
    scene.mine.status.bootstrapKeySHA256 = "0f";
    SECTION("the machine's own Node") {
        scene.cluster.server.put(node);
        REQUIRE(scene.find().node);
        CHECK(scene.find().node->metadata.name == "mine");
        scene.mine.status.nodeName = "mine";
        CHECK(claim::noted_node(scene.cluster.informers, scene.mine));
    }
    SECTION("a Node that did not join with this claim's settings") {
        node.metadata.labels->erase(std::string(api::labels::kClaim));
        scene.cluster.server.put(node);
        CHECK_FALSE(scene.find().node);
    }
    SECTION("a Node of the control plane") {
        node.metadata.labels["node-role.kubernetes.io/control-plane"] = "";
        scene.cluster.server.put(node);
        CHECK_FALSE(scene.find().node);
    }
}

TEST_CASE("a label that no kubelet can set is a person's word, and one of a claim of the past says nothing") {
    Scene scene;
    auto node = scene.own_node();
    SECTION("the word of a person") {
        scene.make_claim_later();
        node.metadata.labels["node-role.kubernetes.io/control-plane"] = "";
        node.metadata.labels["node-restriction.kubernetes.io/kubenodesmith-claim"] = "mine";
    }
    SECTION("of a claim that is gone") {
        label(node, "gone");
    }
    scene.cluster.server.put(node);
    CHECK(scene.find().node->metadata.name == "mine");
}

TEST_CASE("the label of a claim, which a kubelet can set, makes no Node of the control plane the claim's") {
    Scene scene;
    auto node = scene.own_node();
    node.metadata.labels["node-role.kubernetes.io/control-plane"] = "";
    label(node, "mine");
    scene.cluster.server.put(node);
    CHECK_FALSE(scene.find().node);
}

TEST_CASE("where the token is bound to a name, a Node of another name is never the claim's") {
    Scene scene;
    const auto put_pool = [&scene](api::v1alpha1::BootstrapFormat format) {
        auto pool = objects::pool("small");
        pool.spec.bootstrap.emplace().method = api::v1alpha1::BootstrapMethod::CloudInit;
        pool.spec.bootstrap->format = format;
        scene.cluster.server.put(pool);
    };
    auto liar = scene.own_node("a-liar");
    label(liar, "mine");
    scene.cluster.server.put(liar);
    SECTION("alone") {
        put_pool(api::v1alpha1::BootstrapFormat::Kubeadm);
        const auto found = scene.find();
        CHECK_FALSE(found.node);
        CHECK(found.refusal.find("this claim's machine can only join as Node mine") != std::string::npos);
    }
    SECTION("beside the machine's own") {
        put_pool(api::v1alpha1::BootstrapFormat::Kubeadm);
        scene.cluster.server.put(scene.own_node());
        const auto found = scene.find();
        CHECK(found.node->metadata.name == "mine");
        CHECK(found.contest.find("Nodes a-liar, mine all have system UUID") == 0);
    }
    SECTION("after its pool was changed, as a certificate was approved for it") {
        put_pool(api::v1alpha1::BootstrapFormat::K3s);
        scene.mine.status.bootstrapKeySHA256 = "0f";
        CHECK_FALSE(scene.find().node);
    }
    SECTION("other tokens are bound to none") {
        put_pool(api::v1alpha1::BootstrapFormat::K3s);
        CHECK(scene.find().node);
    }
}

TEST_CASE("of two Nodes with the machine's UUID none is its Node until a person settles it") {
    Scene scene;
    auto liar = scene.own_node("a-liar");
    label(liar, "mine");
    auto own = scene.own_node("own");
    scene.cluster.server.put(liar);
    SECTION("nothing tells which") {
        scene.cluster.server.put(own);
        const auto found = scene.find();
        CHECK_FALSE(found.node);
        CHECK(found.refusal == found.contest);
        CHECK(found.contest.find("stop the kubelets of the others") != std::string::npos);
    }
    SECTION("a person says which") {
        own.metadata.labels["node-restriction.kubernetes.io/kubenodesmith-claim"] = "mine";
        scene.cluster.server.put(own);
        CHECK(scene.find().node->metadata.name == "own");
    }
    SECTION("a claim in service keeps the Node that it has") {
        label(own, "mine");
        scene.cluster.server.put(own);
        scene.mine.status.nodeName = "own";
        objects::set_condition(scene.mine.status.conditions, conditions::kRegistered, ConditionStatus::True);
        const auto found = scene.find();
        CHECK(found.node->metadata.name == "own");
        CHECK_FALSE(found.contest.empty());
    }
}

TEST_CASE("a providerID says something only of a Node without a system UUID") {
    Scene scene;
    scene.mine.status.providerID = "proxmox://lab/vms/101";
    auto node = scene.own_node();
    node.spec.providerID = scene.mine.status.providerID;
    SECTION("without") {
        node.status.nodeInfo.systemUUID.clear();
        scene.cluster.server.put(node);
        CHECK(scene.find().node);
    }
    SECTION("with another") {
        node.status.nodeInfo.systemUUID = kVictim;
        scene.cluster.server.put(node);
        CHECK_FALSE(scene.find().node);
    }
    SECTION("nothing was begun for the claim") {
        node.status.nodeInfo.systemUUID.clear();
        scene.mine.status.systemUUID.clear();
        scene.cluster.server.put(node);
        CHECK_FALSE(scene.find().node);
    }
}

TEST_CASE("S6: hardware that names a foreign UUID gets no Node by it") {
    Scene scene;
    scene.provider.spec.proxmox.reset();
    scene.provider.spec.redfish.emplace();
    scene.mine.status.systemUUID = kVictim;
    auto host = std::make_shared<api::v1alpha1::NodeSmithHost>();
    host->metadata.name = "metal-1";
    host->status.systemUUID = kVictim;
    host->status.claimRef.emplace().uid = kUid;
    auto node = scene.own_node("metal-1");
    node.status.nodeInfo.systemUUID = kVictim;
    SECTION("one that joined since the claim was made is its own, also by a name that a claim has") {
        scene.cluster.server.put(objects::created_claim("metal-1", objects::pool("small"), 1));
        scene.cluster.server.put(node);
        CHECK(scene.find(host).node);
    }
    SECTION("one that was there before is not") {
        scene.make_claim_later();
        scene.cluster.server.put(stranger("worker-of-old"));
        CHECK_FALSE(scene.find(host).node);
    }
    SECTION("unless the host's user says that it is to be taken as it runs") {
        scene.make_claim_later();
        host->metadata.annotations[std::string(api::annotations::kAdopt)] = "true";
        scene.cluster.server.put(stranger("worker-of-old"));
        CHECK(scene.find(host).node);
    }
    SECTION("or it is recorded to have served an earlier claim on this host") {
        scene.make_claim_later();
        auto old = stranger("metal-1");
        host->status.nodeUID = scene.cluster.server.put(old).metadata.uid;
        CHECK(scene.find(host).node);
    }
    SECTION("not by the claim's forged record and its own label, where the host knows another Node") {
        scene.make_claim_later();
        auto old = stranger("worker-of-old");
        label(old, "mine");
        scene.cluster.server.put(old);
        scene.mine.status.nodeName = "worker-of-old";
        objects::set_condition(scene.mine.status.conditions, conditions::kRegistered, ConditionStatus::True);
        CHECK(scene.find(host).node);
        host->status.nodeUID = "of-the-true-one";
        CHECK_FALSE(scene.find(host).node);
    }
    SECTION("but not by its label, which its kubelet can set") {
        scene.make_claim_later();
        auto old = stranger("metal-1");
        old.metadata.labels[std::string(api::labels::kHost)] = "metal-1";
        scene.cluster.server.put(old);
        CHECK_FALSE(scene.find(host).node);
    }
    SECTION("and without the host's word nothing is") {
        host->status.claimRef->uid = "of-another";
        scene.cluster.server.put(node);
        CHECK_FALSE(scene.find(host).node);
        CHECK(scene.find().refusal.find("only the status of the Node says so") != std::string::npos);
    }
}

TEST_CASE("the Node that a status notes is the claim's if it is proven so") {
    Scene scene;
    scene.mine.status.nodeName = "noted";
    const auto noted = [&scene] {
        scene.cluster.server.put(scene.mine);
        scene.cluster.run_for(std::chrono::seconds{1});
        return claim::noted_node(scene.cluster.informers, scene.mine) != nullptr;
    };
    SECTION("by the derived UUID") {
        scene.cluster.server.put(scene.own_node("noted"));
        CHECK(noted());
    }
    SECTION("not by one that is noted, too") {
        scene.cluster.server.put(stranger("noted"));
        scene.mine.status.systemUUID = kVictim;
        CHECK_FALSE(noted());
        scene.mine.status.systemUUID.clear();
        CHECK_FALSE(noted());
        scene.mine.status.providerRef = "of-another";
        CHECK_FALSE(noted());
    }
    SECTION("by what is noted, if it was read from a file that has no UUID for a UID") {
        scene.mine.metadata.uid = "claim-1";
        scene.cluster.server.put(scene.own_node("noted"));
        CHECK(noted());
    }
    SECTION("by our label, together with the record that it was registered") {
        auto node = stranger("noted", "");
        label(node, "mine");
        scene.cluster.server.put(node);
        scene.mine.status.providerRef.clear();
        CHECK_FALSE(noted());
        objects::set_condition(scene.mine.status.conditions, conditions::kRegistered, ConditionStatus::True);
        CHECK(noted());
        objects::set_condition(scene.mine.status.conditions, conditions::kRegistered, ConditionStatus::False);
        CHECK_FALSE(noted());
    }
    SECTION("by our label, together with the record that its attempt was given up as it joined") {
        auto node = stranger("noted", "");
        label(node, "mine");
        scene.cluster.server.put(node);
        scene.mine.status.providerRef.clear();
        objects::set_condition(scene.mine.status.conditions, conditions::kMachineDeleted,
                               ConditionStatus::True);
        CHECK_FALSE(noted());  // a VM's Node shows the UUID of the VM
        scene.cluster.server.put(bare_metal("metal-1"));
        scene.mine.status.host = "metal-1";
        CHECK(noted());
        scene.make_claim_later();
        CHECK_FALSE(noted());
    }
}

TEST_CASE("S5: forged status moves a claim to no Node of others, and is put right") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }, std::chrono::minutes{1}));
    const auto honest = world.claim()->status;
    const auto victim = world.server.put(stranger("victim"));
    world.server.edit<NodeSmithClaim>(kClaim, [&](NodeSmithClaim& forged) {
        forged.status.systemUUID = kVictim;
        forged.status.providerID = victim.spec.providerID;
        forged.status.nodeName = "victim";
    });
    world.run(std::chrono::minutes{10});
    CHECK(world.server.get<api::Node>({"", "victim"}) == victim);
    CHECK(world.ready());
    CHECK(world.claim()->status.systemUUID == honest.systemUUID);
    CHECK(world.claim()->status.nodeName == honest.nodeName);
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return world.gone(); }, std::chrono::minutes{5}));
    CHECK(world.server.get<api::Node>({"", "victim"}) == victim);
    CHECK(world.cloud.machines.empty());
}

TEST_CASE("S5: a forged adoption takes no Node, and ends as no machine bears its mark") {
    World world;
    Process process(world);
    const auto victim = world.server.put(stranger("victim"));
    world.run(std::chrono::hours{1});
    auto forged = objects::claim("c", *world.server.get<NodeSmithPool>({"default", "p"}), 1, 2048);
    forged.metadata.uid.clear();
    forged.status.providerRef = "proxmox";
    forged.status.host = "host-a";
    forged.status.machineID = "900";
    forged.status.systemUUID = kVictim;
    forged.status.providerID = victim.spec.providerID;
    forged.status.nodeName = "victim";
    forged.status.launchAttempts = 1;
    for (const auto type :
         {conditions::kAdopted, conditions::kLaunched, conditions::kRegistered, conditions::kInitialized})
        objects::set_condition(forged.status.conditions, type, ConditionStatus::True);
    world.server.put(forged);
    world.run(std::chrono::minutes{10});
    CHECK(world.server.get<api::Node>({"", "victim"}) == victim);
    CHECK(world.gone());
}
