// Tests which volumes can be used on one node only, and whose data may be lost with it.
#include "controllers/claim/facts/local_volumes.hpp"

#include "test/support/catch.hpp"
#include "test/unit/controllers/cluster.hpp"
#include "test/unit/controllers/local_volumes.hpp"

using namespace std::chrono_literals;
using controllers::LocalVolume;
using controllers::LocalVolumes;
using test::claim_of;
using test::term_in;
using test::volume_at;
using test::volume_on;

namespace {

const std::string kHostname(api::labels::kHostname);
const std::string kOwnKey = "topology.lvm.example/node";

api::Node a_node(const std::string& name, const api::StringMap& labels = {}) {
    api::Node node;
    node.metadata.name = name;
    node.metadata.labels = labels;
    node.metadata.labels->try_emplace(kHostname, name);
    return node;
}

api::CSINode csi_of(const std::string& node, const std::string& id, std::vector<std::string> keys) {
    api::CSINode csi;
    csi.metadata.name = node;
    csi.spec.drivers.push_back({"lvm.example", id, std::move(keys), {}});
    return csi;
}

struct World : test::Cluster {
    World() { start(); }
    ~World() { stop(); }

    template <class T>
    void put(const T& object) {
        server.put(object);
        run_for(1s);
    }
    void put_pair(const api::PersistentVolume& volume) { put_pair(volume, claim_of(volume)); }
    void put_pair(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
        test::put_bound(server, volume, claim);
        run_for(1s);
    }
    // Returns the names of the volumes that can be used only on this node.
    std::vector<std::string> on(const std::string& node) {
        std::vector<std::string> names;
        for (const auto& volume : found(node)) names.push_back(volume.name);
        return names;
    }
    LocalVolumes found(const std::string& node) {
        return controllers::local_volumes_on(informers, *server.get<api::Node>({"", node}));
    }
    bool is_held(const std::string& node) {
        return !controllers::held_among(found(node), nullptr, {}).empty();
    }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a volume whose affinity names one node by hostname, name or field is on that node") {
    World world;
    world.put(a_node("a"));
    world.put(a_node("b"));
    SECTION("by hostname") {
        world.put_pair(volume_on("v", "a"));
    }
    SECTION("by hostname beside other requirements, which may have changed since") {
        auto term = term_in(kHostname, {"a"});
        term.matchExpressions.push_back({"topology.kubernetes.io/zone", api::SelectorOperator::In, {"z"}});
        world.put_pair(volume_at("v", {term}));
    }
    SECTION("by field") {
        api::NodeSelectorTerm term;
        term.matchFields.push_back({"metadata.name", api::SelectorOperator::In, {"a"}});
        world.put_pair(volume_at("v", {term}));
    }
    SECTION("among several values of which one exists only") {
        world.put_pair(volume_at("v", {term_in(kHostname, {"gone", "a"})}));
    }
    SECTION("in one of several terms, the others of which name nodes that are gone") {
        world.put_pair(volume_at("v", {term_in(kHostname, {"gone"}), {}, term_in(kHostname, {"a"})}));
    }
    SECTION("in several terms alike") {
        world.put_pair(volume_at("v", {term_in(kHostname, {"a"}), term_in(kHostname, {"a", "gone"})}));
    }
    CHECK(world.on("a") == Names{"v"});
    CHECK(world.on("b").empty());
}

TEST_CASE("a hostname is what the label says, not the Node's name") {
    World world;
    world.put(a_node("a", {{kHostname, "a.example"}}));
    world.put(a_node("b", {{kHostname, "a"}}));
    world.put_pair(volume_on("v", "a.example"));
    CHECK(world.on("a") == Names{"v"});
    CHECK(world.on("b").empty());
}

TEST_CASE("a volume that can be used elsewhere, too, is on no node alone") {
    World world;
    world.put(a_node("a", {{"topology.kubernetes.io/zone", "a"}}));
    world.put(a_node("b"));
    SECTION("in a zone that happens to have one node, even of that name") {
        world.put_pair(volume_at("v", {term_in("topology.kubernetes.io/zone", {"a"})}));
    }
    SECTION("on several nodes by value") {
        world.put_pair(volume_at("v", {term_in(kHostname, {"a", "b"})}));
    }
    SECTION("on several nodes by term") {
        world.put_pair(volume_at("v", {term_in(kHostname, {"a"}), term_in(kHostname, {"b"})}));
    }
    SECTION("on a node or in a zone, where others may come") {
        world.put_pair(
            volume_at("v", {term_in(kHostname, {"a"}), term_in("topology.kubernetes.io/zone", {"another"})}));
    }
    SECTION("on all nodes but one") {
        api::NodeSelectorTerm term;
        term.matchExpressions.push_back({kHostname, api::SelectorOperator::NotIn, {"b"}});
        world.put_pair(volume_at("v", {term}));
    }
    SECTION("everywhere") {
        auto volume = volume_on("v", "a");
        volume.spec.nodeAffinity.reset();
        world.put_pair(volume);
    }
    CHECK(world.on("a").empty());
    CHECK(world.on("b").empty());
}

TEST_CASE("of several nodes with the data that leave at once the last one is held") {
    World world;
    for (const auto* name : {"a", "b"}) {
        world.put(a_node(name));
        auto claim = objects::in_service(objects::claim(name, objects::pool("small")));
        objects::set_condition(claim.status.conditions, "Disrupted", api::ConditionStatus::True);
        world.put(claim);
    }
    world.put_pair(volume_at("v", {term_in(kHostname, {"a", "b"})}));
    CHECK(world.on("a").empty());
    CHECK(world.on("b") == Names{"v"});
}

TEST_CASE("a driver's own key names a node if its value is the driver's ID of that node") {
    World world;
    SECTION("by the ID that the driver registered") {
        world.put(a_node("a", {{kOwnKey, "id-7"}}));
        world.put(csi_of("a", "id-7", {kOwnKey}));
    }
    SECTION("also where another Node has that name, and an ID of its own") {
        world.put(a_node("a", {{kOwnKey, "id-7"}}));
        world.put(a_node("id-7", {{kOwnKey, "id-8"}}));
        world.put(csi_of("a", "id-7", {kOwnKey}));
        world.put(csi_of("id-7", "id-8", {kOwnKey}));
    }
    SECTION("by the Node's name, where no driver is registered anywhere") {
        world.put(a_node("a", {{kOwnKey, "a"}}));
        auto named = volume_at("w", {term_in(kOwnKey, {"a"})});
        named.spec.csi = api::CSIPersistentVolumeSource{"lvm.example"};
        world.put_pair(named);
        CHECK(world.on("a") == Names{"w"});
        return;
    }
    SECTION("also while the driver restarts, as others show that the key has IDs") {
        world.put(a_node("a", {{kOwnKey, "id-7"}}));
        auto restarting = csi_of("a", "", {});
        restarting.spec.drivers.clear();
        world.put(restarting);
        world.put(a_node("b", {{kOwnKey, "id-8"}}));
        world.put(csi_of("b", "id-8", {kOwnKey}));
    }
    auto volume = volume_at("v", {term_in(kOwnKey, {"id-7"})});
    volume.spec.csi = api::CSIPersistentVolumeSource{"lvm.example"};
    world.put_pair(volume);
    CHECK(world.on("a") == Names{"v"});
}

TEST_CASE("a driver's own key that has zones names no node") {
    World world;
    world.put(a_node("a", {{"topology.lvm.example/zone", "east"}}));
    auto volume = volume_at("v", {term_in("topology.lvm.example/zone", {"east"})});
    volume.spec.csi = api::CSIPersistentVolumeSource{"lvm.example"};
    world.put_pair(volume);
    CHECK(world.on("a").empty());
    world.put(csi_of("a", "id-7", {"topology.lvm.example/zone"}));
    CHECK(world.on("a").empty());
}

TEST_CASE("a volume that no driver made, and whose own key has the Node's name, is on that node") {
    World world;
    world.put(a_node("a", {{"example.org/node", "a"}}));
    world.put_pair(volume_at("v", {term_in("example.org/node", {"a"})}));
    CHECK(world.on("a") == Names{"v"});
}

TEST_CASE("a volume is found by what its driver called a node that was deleted") {
    World world;
    auto node = a_node("a", {{kHostname, "a.example"}, {kOwnKey, "id-7"}});
    world.put(node);
    world.put(a_node("a.example", {{kHostname, "other"}}));
    world.put(csi_of("a", "id-7", {kOwnKey, "topology.kubernetes.io/zone"}));
    auto claim = objects::in_service(objects::claim("a", objects::pool("small")));
    const auto record = [&] {
        claim.status.volumePlaces =
            controllers::volume_places(world.informers, claim, *world.server.get<api::Node>({"", "a"}));
    };
    record();
    const auto of_driver = [](const std::string& name) {
        auto volume = volume_at(name, {term_in(kOwnKey, {"id-7"})});
        volume.spec.csi = api::CSIPersistentVolumeSource{"lvm.example"};
        return volume;
    };
    world.put_pair(of_driver("of-driver"));
    world.put_pair(volume_on("of-hostname", "a.example"));
    const auto found = [&](const api::Node* present) {
        Names names;
        for (const auto& volume : controllers::local_volumes_of(world.informers, claim, present))
            names.push_back(volume.name);
        return names;
    };
    SECTION("while the node is there") {
        CHECK(found(&node) == Names{"of-driver", "of-hostname"});
    }
    SECTION("after it was deleted") {
        world.server.remove<api::CSINode>({"", "a"});
        world.server.remove<api::Node>({"", "a"}, 0);
        auto of_other = of_driver("of-other-driver");
        of_other.spec.csi = api::CSIPersistentVolumeSource{"zfs.example"};
        world.put_pair(of_other);
        CHECK(found(nullptr) == Names{"of-driver", "of-hostname"});
    }
    SECTION("after it came back without its driver") {
        world.server.edit<api::CSINode>({"", "a"}, [](api::CSINode& csi) { csi.spec.drivers.clear(); });
        world.run_for(1s);
        const auto before = claim.status.volumePlaces;
        record();
        CHECK(claim.status.volumePlaces == before);
        CHECK(found(&node) == Names{"of-driver", "of-hostname"});
    }
    SECTION("but not by an ID that the node has no more") {
        world.server.edit<api::CSINode>({"", "a"},
                                        [](api::CSINode& csi) { csi.spec.drivers.front().nodeID = "id-8"; });
        world.server.edit<api::Node>({"", "a"},
                                     [](api::Node& renamed) { renamed.metadata.labels[kOwnKey] = "id-8"; });
        world.run_for(1s);
        record();
        CHECK(found(nullptr) == Names{"of-hostname"});
    }
}

TEST_CASE(
    "names that volumes may have for a node are bounded, and zones and the node's own name are not kept") {
    World world;
    world.put(a_node("a", {{kOwnKey, "a"}, {"topology.lvm.example/zone", "east"}}));
    auto claim = objects::in_service(objects::claim("a", objects::pool("small")));
    const auto places = [&] {
        return controllers::volume_places(world.informers, claim, *world.server.get<api::Node>({"", "a"}));
    };
    auto csi = csi_of("a", "a", {kOwnKey});
    csi.spec.drivers.push_back({"zone.example", "id-7", {"topology.lvm.example/zone"}, {}});
    csi.spec.drivers.push_back({"long.example", std::string(300, 'x'), {"topology.long.example/node"}, {}});
    SECTION("zones, the name, and an ID that is too long for any label") {
        world.put(csi);
        CHECK(places().empty());
    }
    SECTION("many drivers") {
        for (int i = 0; i < 100; ++i)
            csi.spec.drivers.push_back(
                {"d" + std::to_string(i), "id", {"key.example/" + std::to_string(i)}, {}});
        world.put(csi);
        CHECK(places().size() == 32);
    }
}

TEST_CASE("a volume that cannot be decoded holds the nodes that it may concern, and is named") {
    World world;
    world.put(a_node("a"));
    world.put(a_node("b"));
    const auto make_odd = [&](const auto& change) {
        world.put(test::free_volume_on("odd", "a"));
        world.server.store().update(world.server.key<api::PersistentVolume>({"", "odd"}), change);
        world.run_for(1s);
    };
    const auto named_on = [&](const std::string& node) {
        return controllers::named(controllers::held_among(world.found(node), nullptr, {}));
    };
    const auto name = Catch::StartsWith("volume odd (which cannot be decoded");
    SECTION("one, where its affinity can be read") {
        make_odd([](boost::json::object& volume) { volume["status"] = 7; });
        CHECK_THAT(named_on("a"), name);
        CHECK(named_on("b").empty());
    }
    SECTION("all, where it cannot") {
        make_odd([](boost::json::object& volume) { volume["spec"].get_object()["nodeAffinity"] = 7; });
        CHECK_THAT(named_on("a"), name);
        CHECK_THAT(named_on("b"), name);
    }
    SECTION("none, once it is readable or gone") {
        make_odd([](boost::json::object& volume) { volume["status"] = 7; });
        world.server.remove<api::PersistentVolume>({"", "odd"});
        world.run_for(1s);
        CHECK(named_on("a").empty());
    }
}

TEST_CASE("only a bound volume holds its node, unless somebody said that its data may be lost") {
    World world;
    world.put(a_node("a"));
    auto volume = volume_on("v", "a");
    auto claim = claim_of(volume);
    bool holds = true;
    SECTION("bound") {}
    SECTION("bound, and its claim is not known here yet") {
        world.put(volume);
        CHECK(world.is_held("a"));
        return;
    }
    SECTION("bound by its claim's word, before the volume's status says so") {
        volume.status.phase.clear();
    }
    SECTION("free") {
        volume.status.phase = "Available";
        volume.spec.claimRef.reset();
        claim.spec.volumeName.clear();
        holds = false;
    }
    SECTION("released") {
        volume.status.phase = "Released";
        world.put(volume);  // its claim has another UID
        world.put(claim);
        CHECK_FALSE(world.is_held("a"));
        return;
    }
    SECTION("of a claim that belongs to a pod") {
        api::Pod pod;
        pod.metadata.namespace_ = "default";
        pod.metadata.name = "web-1";
        const auto uid = world.server.put(pod).metadata.uid;
        claim.metadata.ownerReferences = {{"v1", "Pod", "web-1", uid, true, true}};
        holds = false;
    }
    SECTION("of a claim that belongs to something else") {
        claim.metadata.ownerReferences = {{"apps/v1", "StatefulSet", "db", "uid-of-db", true, true}};
    }
    SECTION("of a claim whose data may be lost") {
        claim.metadata.annotations = {{"kubenodesmith.io/local-data", "Disposable"}};
        holds = false;
    }
    SECTION("with a word that means nothing") {
        claim.metadata.annotations = {{"kubenodesmith.io/local-data", "yes"}};
    }
    SECTION("of a class whose data may be lost") {
        api::StorageClass storage_class;
        storage_class.metadata.name = test::kLocalClass;
        storage_class.metadata.annotations = {{"kubenodesmith.io/local-data", "Disposable"}};
        world.put(storage_class);
        holds = false;
    }
    if (volume.spec.claimRef)
        world.put_pair(volume, claim);
    else
        world.put(volume);
    CHECK(world.is_held("a") == holds);
}

TEST_CASE("an annotation of one claim gives up no other's data") {
    World world;
    world.put(a_node("a"));
    auto theirs = claim_of(volume_on("theirs", "a"));
    theirs.metadata.annotations = {{"kubenodesmith.io/local-data", "Disposable"}};
    world.put_pair(volume_on("theirs", "a"), theirs);
    world.put_pair(volume_on("ours", "a"));
    const auto held = controllers::held_among(world.found("a"), nullptr, {});
    CHECK(controllers::named(held) == "volume ours (PersistentVolumeClaim default/data-ours)");
    // A claim of the same name that is bound elsewhere is not the volume's claim.
    auto impostor = claim_of(volume_on("ours", "a"));
    impostor.metadata.annotations = {{"kubenodesmith.io/local-data", "Disposable"}};
    world.server.remove<api::PersistentVolumeClaim>({"default", "data-ours"});
    world.put(impostor);
    CHECK(world.is_held("a"));
}

TEST_CASE("a released volume whose data was to be kept is named among what is lost") {
    World world;
    world.put(a_node("a"));
    auto volume = volume_on("v", "a");
    volume.status.phase = "Released";
    SECTION("by its policy") {
        volume.spec.persistentVolumeReclaimPolicy = "Retain";
        world.put(volume);
        CHECK(controllers::lost_with({}, world.found("a")) ==
              "volume v (Released, Retain; it belonged to PersistentVolumeClaim default/data-v)");
    }
    SECTION("but not where it was to be deleted") {
        world.put(volume);
        CHECK(controllers::lost_with({}, world.found("a")).empty());
    }
}

TEST_CASE("the caches keep no annotations of volumes that nobody reads") {
    World world;
    auto volume = volume_on("v", "a");
    volume.metadata.annotations = {{"pv.kubernetes.io/provisioned-by", "lvm.example"}};
    auto claim = claim_of(volume);
    claim.metadata.annotations = {{"example.org/note", "long"},
                                  {"kubenodesmith.io/local-data", "Disposable"}};
    world.put(volume);
    world.put(claim);
    CHECK(world.informers.persistent_volumes.store().get({"", "v"})->metadata.annotations->empty());
    CHECK(world.informers.persistent_volume_claims.store()
              .get({"default", "data-v"})
              ->metadata.annotations->size() == 1);
}

TEST_CASE("a machine that is released instead of removed is not held, and loses no volume") {
    World world;
    world.put(a_node("a"));
    world.put_pair(volume_on("v", "a"));
    auto claim = objects::in_service(objects::claim("a", objects::pool("small")));
    REQUIRE_FALSE(controllers::held_among(world.found("a"), nullptr, claim).empty());
    CHECK_FALSE(controllers::lost_with(claim, world.found("a")).empty());
    claim.spec.deletionPolicy = api::v1alpha1::DeletionPolicy::Retain;
    CHECK(controllers::held_among(world.found("a"), nullptr, claim).empty());
    CHECK(controllers::lost_with(claim, world.found("a")).empty());
}
