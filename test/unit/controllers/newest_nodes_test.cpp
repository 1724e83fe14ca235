// Tests what a pool keeps of its last Nodes for its next first machine: the size of DaemonSets' pods, and how
// many volumes a machine can attach.
#include "controllers/state/newest_nodes.hpp"

#include "controllers/claim/facts/template_hash.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace controllers;
using namespace std::chrono_literals;
using api::v1alpha1::LearnedDaemonSet;
using api::v1alpha1::LearnedVolumeLimit;

namespace {

constexpr const char* kDriver = "csi.test";
const std::string kGeneration(api::annotations::kTemplateGeneration);

api::DaemonSet a_daemon_set(const std::string& name = "agent") {
    api::DaemonSet made;
    made.metadata.name = name;
    made.metadata.namespace_ = "kube-system";
    made.metadata.uid = "uid-" + name;
    made.metadata.creationTimestamp = objects::kStart;
    made.metadata.annotations[kGeneration] = "1";
    made.spec.template_.spec = test::a_pod(name).requesting("100m", "128Mi").pod.spec;
    return made;
}

// Returns a pod as the DaemonSet controller makes it, with the requests that admission has given it.
api::Pod pod_of(const api::DaemonSet& daemon_set, const std::string& cpu, const std::string& memory,
                const std::string& node = "a") {
    auto pod = test::a_pod(daemon_set.metadata.name + "-" + node).requesting(cpu, memory).on(node).pod;
    pod.metadata.namespace_ = daemon_set.metadata.namespace_;
    pod.metadata.creationTimestamp = objects::kStart;
    pod.metadata.labels["pod-template-generation"] = "1";
    auto& owner = pod.metadata.ownerReferences->emplace_back();
    owner.kind = "DaemonSet";
    owner.name = daemon_set.metadata.name;
    owner.uid = daemon_set.metadata.uid;
    owner.controller = true;
    return pod;
}

api::CSIDriver a_driver(const std::string& name = kDriver) {
    api::CSIDriver made;
    made.metadata.name = name;
    return made;
}

api::CSINode attaches(std::optional<std::int32_t> count, const std::string& driver = kDriver) {
    api::CSINode csi;
    csi.spec.drivers.push_back({driver, "", {}, api::VolumeNodeResources{count}});
    return csi;
}

// World is a pool whose largest machine has 8 CPUs and 16 GiB.
struct World {
    objects::NodeSmithPool pool = objects::pool("small");
    objects::NodeSmithProvider provider = objects::provider("proxmox");
    std::vector<NewestNode> nodes;
    std::vector<api::DaemonSet> daemon_sets = {a_daemon_set()};
    std::vector<api::CSIDriver> drivers = {a_driver()};

    World() { pool.spec.machineTemplate.sizes = {{"small", 2, 4096}, {"large", 8, 16384}}; }

    std::string hash() const { return claim::template_hash(pool, &provider); }
    void add_node(const api::Pod& pod) {
        nodes.push_back({hash(), {std::make_shared<const api::Pod>(pod)}, nullptr});
    }
    void add_node(const api::CSINode& csi) {
        nodes.push_back({hash(), {}, std::make_shared<const api::CSINode>(csi)});
    }
    // Makes what is learned now the state of the pool.
    void look(std::chrono::seconds now = 0s) {
        const std::map<api::ObjectKey, NodePointer> none;
        PoolObservation facts{pool, {}, none};
        facts.newest_nodes = nodes;
        for (const auto& each : daemon_sets)
            facts.daemon_sets.push_back(std::make_shared<const api::DaemonSet>(each));
        for (const auto& each : drivers)
            facts.csi_drivers.push_back(std::make_shared<const api::CSIDriver>(each));
        auto learned = learn_daemon_sets(facts, hash(), objects::at(now));
        auto limits = learn_volume_limits(facts, hash(), objects::at(now));
        pool.status.learnedDaemonSets = std::move(learned);
        pool.status.learnedVolumeLimits = std::move(limits);
    }
    std::vector<LearnedDaemonSet> sets(std::chrono::seconds now = 0s) {
        look(now);
        return pool.status.learnedDaemonSets;
    }
    // Returns millicores and MiB of the only DaemonSet; nullopt: nothing is known.
    std::optional<std::pair<std::int64_t, std::int64_t>> requests(std::chrono::seconds now = 0s) {
        const auto learned = sets(now);
        if (learned.empty()) return std::nullopt;
        REQUIRE(learned.size() == 1);
        return std::pair(learned[0].cpuMillicores, learned[0].memoryMiB);
    }
    std::vector<LearnedVolumeLimit> limits(std::chrono::seconds now = 0s) {
        look(now);
        return pool.status.learnedVolumeLimits;
    }
    std::int64_t limit(std::chrono::seconds now = 0s) {
        const auto learned = limits(now);
        REQUIRE(learned.size() == 1);
        return learned[0].count;
    }
};

using Requests = std::pair<std::int64_t, std::int64_t>;

}  // namespace

TEST_CASE("a pool remembers the pods of DaemonSets that are larger than their template") {
    World world;
    world.add_node(pod_of(world.daemon_sets[0], "100m", "128Mi"));
    CHECK(world.sets().empty());
    world.nodes.clear();
    world.add_node(pod_of(world.daemon_sets[0], "100m", "1000Mi"));
    const LearnedDaemonSet known{"kube-system", "agent", "uid-agent",  "1",
                                 100,           1000,    world.hash(), std::nullopt};
    CHECK(world.sets() == std::vector{known});
    // The vertical pod autoscaler made the next pods smaller again.
    world.nodes.clear();
    world.add_node(pod_of(world.daemon_sets[0], "100m", "200Mi"));
    CHECK(world.requests() == Requests(100, 200));
    world.nodes.clear();
    world.add_node(pod_of(world.daemon_sets[0], "50m", "100Mi"));
    CHECK(world.sets().empty());
}

TEST_CASE("what no Node shows is kept for a week, for the same DaemonSet and the same templates") {
    World world;
    world.add_node(pod_of(world.daemon_sets[0], "1", "1Gi"));
    world.look();
    world.nodes.clear();
    CHECK(world.sets(1h).at(0).expires == objects::at(169h));
    CHECK(world.sets(168h).at(0).expires == objects::at(169h));
    SECTION("a week is over") {
        CHECK(world.sets(169h).empty());
    }
    SECTION("a Node shows it again") {
        world.add_node(pod_of(world.daemon_sets[0], "1", "1Gi"));
        CHECK_FALSE(world.sets(168h).at(0).expires);
    }
    SECTION("the DaemonSet has a new template") {
        world.daemon_sets[0].metadata.annotations[kGeneration] = "2";
        CHECK(world.sets(2h).empty());
    }
    SECTION("another DaemonSet has its name") {
        world.daemon_sets[0].metadata.uid = "uid-another";
        CHECK(world.sets(2h).empty());
    }
    SECTION("the DaemonSet is being deleted") {
        world.daemon_sets[0].metadata.deletionTimestamp = objects::at(2h);
        CHECK(world.sets(2h).empty());
    }
    SECTION("the pool's template changes") {
        world.pool.spec.machineTemplate.labels["a"] = "b";
        CHECK(world.sets(2h).empty());
    }
}

TEST_CASE("one pod alone moves what a DaemonSet is expected to take by a quarter of the largest machine") {
    World world;
    world.add_node(pod_of(world.daemon_sets[0], "100", "1Ti"));
    CHECK(world.requests() == Requests(100 + 2000, 128 + 4096));
    CHECK(world.requests(1s) == Requests(100 + 2000, 128 + 4096));
    world.add_node(pod_of(world.daemon_sets[0], "100m", "128Mi", "b"));
    CHECK(world.requests() == Requests(100 + 2000, 128 + 4096));
    // Two that agree move it to three quarters at most.
    world.nodes.pop_back();
    world.add_node(pod_of(world.daemon_sets[0], "50", "8Gi", "b"));
    CHECK(world.requests() == Requests(6000, 8192));
    // On its way to zero Nodes the pool has a single one.
    world.nodes.pop_back();
    CHECK(world.requests() == Requests(6000, 8192));
    world.nodes.clear();
    CHECK(world.requests() == Requests(6000, 8192));
}

TEST_CASE("only pods that the DaemonSet controller made from the present revision are remembered") {
    World world;
    auto pod = pod_of(world.daemon_sets[0], "1", "1Gi");
    SECTION("of another namespace") {
        pod.metadata.namespace_ = "default";
    }
    SECTION("of a controller with another UID") {
        pod.metadata.ownerReferences->front().uid = "uid-another";
    }
    SECTION("not controlled by it") {
        pod.metadata.ownerReferences->front().controller = false;
    }
    SECTION("of an older template") {
        world.daemon_sets[0].metadata.annotations[kGeneration] = "2";
    }
    SECTION("of an older revision") {
        pod.metadata.labels["controller-revision-hash"] = "old";
        auto younger = pod_of(world.daemon_sets[0], "100m", "128Mi", "b");
        younger.metadata.labels["controller-revision-hash"] = "new";
        younger.metadata.creationTimestamp = objects::at(1s);
        world.add_node(younger);
    }
    world.add_node(pod);
    CHECK(world.sets().empty());
}

TEST_CASE("nothing is learned from machines of another template") {
    World world;
    world.add_node(pod_of(world.daemon_sets[0], "1", "1Gi"));
    world.add_node(attaches(24));
    for (auto& node : world.nodes) node.template_hash = "3-another";
    CHECK(world.sets().empty());
    CHECK(world.limits().empty());
}

TEST_CASE("a pool remembers the oldest DaemonSets and a bounded number of drivers") {
    World world;
    world.daemon_sets.clear();
    world.drivers.clear();
    NewestNode node{world.hash(), {}, nullptr};
    api::CSINode csi;
    for (int i = 0; i < 100; ++i) {
        auto set = a_daemon_set("agent-" + std::to_string(i));
        set.metadata.creationTimestamp = objects::at(std::chrono::seconds{-i});
        node.daemon_pods.push_back(std::make_shared<const api::Pod>(pod_of(set, "1", "1Gi")));
        world.daemon_sets.push_back(set);
        world.drivers.push_back(a_driver("csi-" + std::to_string(i)));
        csi.spec.drivers.push_back(attaches(24, "csi-" + std::to_string(i)).spec.drivers[0]);
    }
    node.csi = std::make_shared<const api::CSINode>(csi);
    world.nodes = {node};
    CHECK(world.sets().size() == 64);
    CHECK(world.sets().front().name == "agent-99");
    CHECK(world.limits().size() == 16);
    world.nodes.clear();
    CHECK(world.sets().size() == 64);
    CHECK(world.limits().size() == 16);
}

TEST_CASE("a pool remembers for a week how many volumes its last machines attached") {
    World world;
    world.add_node(attaches(24));
    CHECK(world.limits() == std::vector{LearnedVolumeLimit{kDriver, 24, world.hash(), std::nullopt}});
    world.nodes.clear();
    CHECK(world.limits(1h).at(0).expires == objects::at(169h));
    CHECK(world.limit(168h) == 24);
    SECTION("a week is over") {
        CHECK(world.limits(169h).empty());
    }
    SECTION("a Node shows it again") {
        world.add_node(attaches(30));
        CHECK(world.limit(2h) == 30);
        CHECK_FALSE(world.limits(2h).at(0).expires);
    }
    SECTION("a Node shows that there is no limit") {
        world.add_node(attaches(std::nullopt));
        CHECK(world.limits(2h).empty());
    }
    SECTION("the pool's template changes") {
        world.pool.spec.machineTemplate.labels["a"] = "b";
        CHECK(world.limits(2h).empty());
    }
}

TEST_CASE("one Node alone lowers the limit of a driver to eight volumes, two that agree to any number") {
    World world;
    world.add_node(attaches(1));
    CHECK(world.limit() == 8);
    CHECK(world.limit(1s) == 8);
    world.add_node(attaches(24));
    CHECK(world.limit() == 8);
    world.nodes.pop_back();
    world.add_node(attaches(4));
    CHECK(world.limit() == 4);
    // On its way to zero Nodes the pool has a single one.
    world.nodes.erase(world.nodes.begin());
    CHECK(world.limit() == 4);
    world.nodes.clear();
    CHECK(world.limit() == 4);
}

TEST_CASE("a driver that only a kubelet names is not remembered") {
    World world;
    auto csi = attaches(24);
    for (int i = 0; i < 100; ++i)
        csi.spec.drivers.push_back(attaches(1, "a-junk-" + std::to_string(i)).spec.drivers[0]);
    world.add_node(csi);
    CHECK(world.limit() == 24);
}

namespace {

// Scene is a pool whose pods use volumes of the driver, in a cluster with a DaemonSet.
struct Scene : test::ProvisioningWorld {
    api::DaemonSet agent;

    Scene() {
        agent = server.put(a_daemon_set());
        server.put(a_driver());
        api::StorageClass late;
        late.metadata.name = "late";
        late.provisioner = kDriver;
        late.volumeBindingMode = api::VolumeBindingMode::WaitForFirstConsumer;
        server.put(late);
        run_for(2s);
    }
    void put_pod_with_volumes(const std::string& name, int volumes) {
        auto pod = test::a_pod(name).requesting("1", "1Gi");
        for (int i = 0; i < volumes; ++i) {
            api::PersistentVolumeClaim claim;
            claim.metadata.name = name + "-" + std::to_string(i);
            claim.metadata.namespace_ = "default";
            claim.spec.storageClassName = "late";
            server.put(claim);
            pod.pod.spec.volumes->emplace_back().persistentVolumeClaim.emplace().claimName =
                claim.metadata.name;
        }
        put_pending(pod);
    }
    // Lets the machine join that pod web waits for, and run it.
    std::string join_first() {
        run_for(5s);
        REQUIRE(claims().size() == 1);
        const auto claim = claims()[0];
        const auto provider = server.get<objects::NodeSmithProvider>({"default", "proxmox"}).value();
        const auto hash = controllers::claim::template_hash(pool(), &provider);
        server.edit<objects::NodeSmithClaim>(
            api::key_of(claim), [&](objects::NodeSmithClaim& made) { made.status.templateHash = hash; });
        join(claim);
        bind("web", claim.metadata.name);
        return claim.metadata.name;
    }
    void show(const std::string& node, const api::Pod& pod, const api::CSINode& csi) {
        auto named = csi;
        named.metadata.name = node;
        server.put(named);
        server.put(pod);
        run_for(5s);
    }
    // Removes the Node with all its pods, its claim, and the pods that waited.
    void go_to_zero(const std::string& node) {
        for (const auto& pod : server.list<api::Pod>()) server.remove<api::Pod>(api::key_of(pod), 0);
        server.remove<api::CSINode>({"", node});
        server.remove<api::Node>({"", node});
        server.edit<objects::NodeSmithClaim>(
            {"default", node}, [](objects::NodeSmithClaim& gone) { gone.metadata.finalizers->clear(); });
        if (server.get<objects::NodeSmithClaim>({"default", node}))
            server.remove<objects::NodeSmithClaim>({"default", node});
        run_for(2h);
        REQUIRE(claims().empty());
    }
};

}  // namespace

TEST_CASE("the first machine after a pool was empty has room for what DaemonSets really take") {
    Scene scene;
    scene.put_pending_pod("web", "1", "3Gi");
    const auto first = scene.join_first();
    const auto small = scene.claims()[0].spec.requirements;
    scene.show(first, pod_of(scene.agent, "100m", "2Gi", first), attaches(3));
    REQUIRE(scene.pool().status.learnedDaemonSets.size() == 1);
    scene.go_to_zero(first);
    CHECK(scene.pool().status.learnedDaemonSets.at(0).expires);

    scene.put_pending_pod("web", "1", "3Gi");
    scene.run_for(5s);
    REQUIRE(scene.claims().size() == 1);
    const auto large = scene.claims()[0].spec.requirements;
    // The pod of the DaemonSet asks for 1920 MiB more than its template. Sizes are in steps of 512 MiB.
    CHECK(large.memoryMiB >= small.memoryMiB + 1536);
    CHECK(large.cpuCores == small.cpuCores);
}

TEST_CASE("the first machines after a pool was empty get no more volumes than they can attach") {
    Scene scene;
    scene.put_pending_pod("web", "1", "1Gi");
    const auto first = scene.join_first();
    scene.show(first, pod_of(scene.agent, "100m", "128Mi", first), attaches(9));
    scene.go_to_zero(first);
    for (int i = 0; i < 3; ++i) scene.put_pod_with_volumes("db-" + std::to_string(i), 4);
    scene.run_for(5s);
    CHECK(scene.claims().size() == 2);
}

TEST_CASE("no Node that lies keeps pods from the machines of an empty pool") {
    Scene scene;
    scene.put_pending_pod("web", "1", "1Gi");
    const auto first = scene.join_first();
    auto csi = attaches(1);
    for (int i = 0; i < 50; ++i)
        csi.spec.drivers.push_back(attaches(1, "junk-" + std::to_string(i)).spec.drivers[0]);
    auto forged = pod_of(scene.agent, "60", "200Gi", first);
    forged.metadata.namespace_ = "default";
    scene.show(first, forged, csi);
    scene.go_to_zero(first);
    CHECK(scene.pool().status.learnedDaemonSets.empty());
    scene.put_pod_with_volumes("db", 6);
    scene.run_for(5s);
    REQUIRE(scene.claims().size() == 1);
    CHECK(scene.claims()[0].spec.requirements.cpuCores <= 2);
}
