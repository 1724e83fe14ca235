// Tests nominations: when the operator nominates pods for a new Node, which pods, and when it does not.
#include "controllers/provisioning/nomination.hpp"
#include "controllers/pool_reconciler.hpp"

#include "controllers/provisioning/nominator.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

using namespace std::chrono_literals;
using objects::NodeSmithClaim;
using objects::NodeSmithControlPlane;
using objects::NodeSmithPool;

namespace {

constexpr auto kTarget = "/api/v1/namespaces/default/pods/pod-0/status";

struct World : test::Cluster {
    controllers::PoolReconciler pools{{informers, client, clock, events, metrics}, reservations};
    controllers::ProvisioningReconciler provisioning{
        {informers, client, clock, events, metrics}, reservations, [this] { return may_mutate; }};
    std::unique_ptr<controllers::Nominator> nominator = make_nominator();
    std::vector<std::string> written;  // bodies of the operator's writes
    std::string registered;            // name of the Node

    using Pods = std::vector<std::pair<std::string, std::string>>;  // name and cores of each pod
    explicit World(int minor = 35, const Pods& pods = {{"pod-0", "1500m"}}) {
        server.options().minor = minor;
        put_basics();
        server.put(test::ProvisioningWorld::fixed_size_pool());
        requests.on_effect = [this](const base::HttpRequest& request) {
            if (request.method == "PATCH" && request.target.starts_with(kTarget))
                written.push_back(request.body);
        };
        add("pool", pools);
        add("provisioning", provisioning);
        add("nomination", *nominator);
        start();
        for (const auto& [name, cores] : pods) put_pending_pod(name, cores);
        run_for(5s);
    }
    ~World() { stop(); }

    std::unique_ptr<controllers::Nominator> make_nominator() {
        return std::make_unique<controllers::Nominator>(
            controllers::Context{informers, client, clock, events, metrics});
    }
    NodeSmithClaim claim() {
        const auto all = claims();
        REQUIRE(all.size() == 1);
        return all.front();
    }
    // Makes the machine a Node that is not in service yet.
    void register_claim(const std::string& cores = "2") {
        registered = claim().metadata.name;
        join(claim());
        offer(cores);
        server.edit<NodeSmithClaim>(api::key_of(claim()), [](NodeSmithClaim& edited) {
            for (const auto* type : {"Initialized", "Ready"})
                objects::set_condition(edited.status.conditions, type, api::ConditionStatus::False);
        });
        run_for(1s);
    }
    void offer(const std::string& cores) {
        server.edit<api::Node>({"", registered}, [&](api::Node& edited) {
            edited.status.allocatable["cpu"] = api::Quantity::parse(cores);
        });
    }
    std::string told(const std::string& pod = "pod-0") {
        return server.get<api::Pod>({"default", pod}).value().status.nominatedNodeName;
    }
    std::vector<std::string> all_told() {
        std::vector<std::string> names;
        for (const auto& pod : server.list<api::Pod>())
            if (!pod.status.nominatedNodeName.empty()) names.push_back(pod.metadata.name);
        return names;
    }
    void say(const std::string& node) {
        server.edit<api::Pod>({"default", "pod-0"},
                              [&](api::Pod& pod) { pod.status.nominatedNodeName = node; });
        run_for(1s);
    }
};

using Names = std::vector<std::string>;

// Returns a world in which one machine is launched for three pods, as planned.
World world_of_three() {
    return World(35, {{"pod-0", "600m"}, {"pod-1", "600m"}, {"pod-2", "600m"}});
}

}  // namespace

TEST_CASE(
    "a pod is nominated to the Node that was launched for it as soon as it exists, and again, but not for "
    "ever") {
    World world;
    CHECK(world.told().empty());
    world.register_claim();
    CHECK(world.told() == world.claim().metadata.name);
    for (int attempt = 1; attempt < controllers::provisioning::kMostTellings; ++attempt) {
        world.say("");  // the scheduler does so when it cannot place the pod yet
        CHECK(world.told() == world.claim().metadata.name);
    }
    world.say("");
    world.run_for(5min);
    CHECK(world.told().empty());
    CHECK(world.written.size() == controllers::provisioning::kMostTellings);
    CHECK(world.claims().size() == 1);
}

// When many real Nodes join one by one, each makes the scheduler try all pods. The pods then use up their
// nominations before their own Node accepts pods.
TEST_CASE("a pod is nominated again once its Node is open to pods, however often it was nominated before") {
    World world;
    const auto taint = [&world](bool is_there) {
        world.server.edit<api::Node>({"", world.registered}, [&](api::Node& node) {
            node.spec.taints.clear();
            if (is_there) node.spec.taints.push_back({"node.kubernetes.io/not-ready", "", "NoSchedule", {}});
        });
        world.run_for(1s);
    };
    world.register_claim();
    taint(true);
    for (int attempt = 0; attempt < 2 * controllers::provisioning::kMostTellings; ++attempt) world.say("");
    REQUIRE(world.told().empty());
    taint(false);
    CHECK(world.told() == world.claim().metadata.name);
    const auto times = world.written.size();
    for (int attempt = 0; attempt < 2 * controllers::provisioning::kMostTellings; ++attempt) world.say("");
    CHECK(world.told().empty());
    CHECK(world.written.size() == times + controllers::provisioning::kMostTellings - 1);
}

TEST_CASE("a nomination is a patch of that field alone, of that pod as it was seen") {
    World world;
    const auto pod = world.server.get<api::Pod>({"default", "pod-0"}).value();
    world.register_claim();
    REQUIRE(world.written.size() == 1);
    CHECK(world.written.front() == R"({"metadata":{"uid":")" + pod.metadata.uid + R"(","resourceVersion":")" +
                                       pod.metadata.resourceVersion +
                                       R"("},"status":{"nominatedNodeName":")" + world.claim().metadata.name +
                                       R"("}})");
}

TEST_CASE("a nominated pod still counts as waiting, and nothing else is launched for it") {
    World world;
    world.register_claim();
    world.put_pending_pod("other", "1500m");
    world.run_for(30s);
    REQUIRE(world.claims().size() == 2);
    world.server.remove<NodeSmithClaim>({"default", world.told()});
    world.run_for(90s);
    CHECK(world.told().empty());
    CHECK(world.claims().size() == 3);  // its machine is being removed, so the pod needs another one
}

TEST_CASE("older servers and control planes that do not want it are told nothing") {
    World old(34);
    old.register_claim();
    CHECK(old.told().empty());
    CHECK(old.written.empty());

    World unwanted;
    unwanted.server.edit<NodeSmithControlPlane>(
        {"default", "main"}, [](NodeSmithControlPlane& edited) { edited.spec.nominate = false; });
    unwanted.register_claim();
    CHECK(unwanted.told().empty());
    CHECK(unwanted.written.empty());
}

TEST_CASE("a nomination is withdrawn when its control plane no longer wants nominations") {
    World world;
    world.register_claim();
    REQUIRE_FALSE(world.told().empty());
    world.server.edit<NodeSmithControlPlane>(
        {"default", "main"}, [](NodeSmithControlPlane& edited) { edited.spec.nominate = false; });
    world.run_for(1s);
    CHECK(world.told().empty());
}

TEST_CASE("a control plane that is paused or only observes writes nothing") {
    for (const auto mode : {api::v1alpha1::Mode::Observe, api::v1alpha1::Mode::Paused}) {
        World world;
        world.server.edit<NodeSmithControlPlane>(
            {"default", "main"}, [&](NodeSmithControlPlane& edited) { edited.spec.mode = mode; });
        world.register_claim();
        CHECK(world.written.empty());
    }
}

TEST_CASE("what somebody else wrote stays") {
    World world;
    world.server.put<api::Node>(objects::a_node("theirs").label("kubernetes.io/hostname", "theirs"));
    world.say("theirs");
    world.register_claim();
    world.run_for(5min);
    CHECK(world.told() == "theirs");
    CHECK(world.written.empty());
}

TEST_CASE("a nomination goes with its Node, and when the scheduler has not used it for a minute") {
    World gone;
    gone.register_claim();
    gone.server.remove<api::Node>({"", gone.claim().metadata.name});
    gone.run_for(1s);
    CHECK(gone.told().empty());

    World unused;
    unused.join(unused.claim());
    unused.run_for(55s);
    CHECK(unused.told() == unused.claim().metadata.name);
    unused.run_for(10s);
    CHECK(unused.told().empty());
    unused.run_for(5min);
    CHECK(unused.written.size() == 2);
}

TEST_CASE("a nomination stays while pods end on the Node: the scheduler may be making room there") {
    World world;
    world.server.options().pods_end_after.reset();
    world.join(world.claim());
    const auto node = world.claim().metadata.name;
    world.put_pending_pod("victim", "10m");
    world.bind("victim", node);
    world.server.remove<api::Pod>({"default", "victim"}, 600);
    world.run_for(5min);
    CHECK(world.told() == node);
    world.server.edit<api::Pod>({"default", "victim"},
                                [](api::Pod& pod) { pod.metadata.finalizers->clear(); });
}

TEST_CASE("another process knows by the claim which nominations are ours") {
    World world;
    world.register_claim();
    const auto node = world.claim().metadata.name;
    const auto pod = world.informers.pods.store().get({"default", "pod-0"});
    CHECK(controllers::provisioning::is_told_of_its_machine(world.informers, *pod));
    const std::vector<controllers::provisioning::Promise> promises{
        {world.informers.claims.store().values().front()}};
    const auto now = api::Time(world.clock.wall_now());
    CHECK_FALSE(controllers::provisioning::nomination(world.informers, *pod, promises, {}, now).node);
    world.server.edit<api::Node>({"", node}, [](api::Node& edited) { edited.spec.unschedulable = true; });
    world.run_for(1ms);
    const auto answer = controllers::provisioning::nomination(world.informers, *pod, promises, {}, now);
    CHECK(answer.node == "");
}

TEST_CASE("a server that refuses is not asked again for ten minutes") {
    World world;
    int refusals = 0;
    world.requests.answer = [&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        if (request.method != "PATCH" || !request.target.starts_with(kTarget)) return std::nullopt;
        ++refusals;
        return fake::status_response(403, "Forbidden", "no right");
    };
    world.register_claim();
    world.run_for(5min);
    CHECK(refusals == 1);
    CHECK(world.told().empty());
}

TEST_CASE("a policy or webhook that denies one pod's nomination silences no other") {
    World world(35, {{"pod-0", "500m"}, {"pod-1", "500m"}});
    const std::string words =
        GENERATE("admission webhook \"guard.example\" denied the request: no",
                 "pods \"pod-0\" is forbidden: ValidatingAdmissionPolicy 'guard' with binding 'guard' denied "
                 "request: no");
    world.requests.answer = [&](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        if (request.method != "PATCH" || !request.target.starts_with(kTarget)) return std::nullopt;
        return fake::status_response(403, "Forbidden", words);
    };
    world.register_claim();
    world.run_for(1min);
    CHECK(world.all_told() == std::vector<std::string>{"pod-1"});
    world.requests.answer = {};
    world.run_for(2min);
    CHECK(world.all_told() == std::vector<std::string>{"pod-0", "pod-1"});
}

TEST_CASE("only as many pods are told of a Node as it holds") {
    auto world = world_of_three();
    world.register_claim("1500m");
    CHECK(world.all_told() == Names{"pod-0", "pod-1"});
}

TEST_CASE("who is told of a Node follows what it offers") {
    auto world = world_of_three();
    world.register_claim();
    REQUIRE(world.all_told() == Names{"pod-0", "pod-1", "pod-2"});
    world.offer("700m");
    world.run_for(1s);
    CHECK(world.all_told() == Names{"pod-0"});
    world.offer("1900m");
    world.run_for(1s);
    CHECK(world.all_told() == Names{"pod-0", "pod-1", "pod-2"});
}

TEST_CASE("who is told of a Node follows what is bound to it") {
    auto world = world_of_three();
    world.register_claim();
    world.server.put<api::Pod>(
        builders::a_pod("agent").requesting("500m", "1Mi").owner("DaemonSet").on(world.registered));
    world.run_for(3s);
    CHECK(world.all_told() == Names{"pod-0", "pod-1"});
    world.server.remove<api::Pod>({"default", "agent"});
    world.run_for(40s);
    CHECK(world.all_told() == Names{"pod-0", "pod-1", "pod-2"});
}

TEST_CASE("a pod that no longer waits leaves its room to the others for which the Node was launched") {
    auto world = world_of_three();
    world.register_claim("700m");
    REQUIRE(world.all_told() == Names{"pod-0"});
    world.server.remove<api::Pod>({"default", "pod-0"});
    world.run_for(3s);
    CHECK(world.all_told() == Names{"pod-1"});
    world.server.put<api::Node>(objects::a_node("elsewhere"));
    world.bind("pod-1", "elsewhere");
    world.run_for(3s);
    CHECK(world.told("pod-2") == world.registered);
}

TEST_CASE("pods on the Node of their nomination take no room from other nominated pods") {
    auto world = world_of_three();
    world.register_claim();
    for (const auto* pod : {"pod-0", "pod-1"}) world.bind(pod, world.registered);
    world.run_for(3s);
    CHECK(world.told("pod-2") == world.registered);
}
