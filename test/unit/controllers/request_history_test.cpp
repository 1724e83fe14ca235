// Tests what is remembered of the requests of pods that were resized in place.
#include "controllers/cache/request_history.hpp"

#include "test/support/catch.hpp"
#include "test/support/pods.hpp"
#include "test/support/virtual_clock.hpp"
#include "test/unit/controllers/cluster.hpp"

using namespace std::chrono_literals;

namespace {

// World has pods whose changes are reported, as an informer does.
struct World : test::Cluster {
    World() { start(); }
    ~World() { stop(); }

    void put(const std::string& name, const std::string& cpu, const std::string& owner = "web",
             const std::string& kind = "ReplicaSet") {
        auto pod = test::a_pod(name).requesting(cpu, "1Gi").owner(kind, owner).pod;
        pod.metadata.creationTimestamp = api::Time(clock.wall_now());
        pod.spec.nodeName = "node";
        server.put(pod);
        run_for(1s);
    }
    void resize(const std::string& name, const std::string& cpu) {
        server.edit<api::Pod>({"default", name}, [&](api::Pod& pod) {
            pod.spec.containers->front().resources.requests["cpu"] = api::Quantity::parse(cpu);
        });
        run_for(1s);
    }
    // Returns the CPUs that the pod is expected to request when it comes back; empty: those that it has.
    std::string returning(const std::string& name) {
        const auto all = informers.request_history.returning(informers.pods.store());
        const auto found = all.find(server.get<api::Pod>({"default", name}).value().metadata.uid);
        if (found == all.end()) return {};
        return std::as_const(found->second->spec.containers)->front().resources.requests.at("cpu").str();
    }
};

}  // namespace

TEST_CASE("a pod that was shrunk comes back with what it requested when it was new") {
    World world;
    world.put("a", "1250m");
    CHECK(world.returning("a").empty());
    world.resize("a", "100m");
    CHECK(world.returning("a") == "1250m");
    world.put("b", "1", "another");
    CHECK(world.returning("b").empty());
    // Programs that shrink pods for good give new pods the smaller size, too.
    world.run_for(61min);
    CHECK(world.returning("a").empty());
}

TEST_CASE("a pod that grew in place is taken as it is") {
    World world;
    world.put("a", "1");
    world.resize("a", "2");
    CHECK(world.returning("a").empty());
    world.resize("a", "1");
    CHECK(world.returning("a").empty());
}

TEST_CASE("the newest pod of an owner shows what the others request when they come back") {
    World world;
    world.put("a", "2");
    world.resize("a", "1");
    world.put("b", "1");
    CHECK(world.returning("a").empty());
    world.put("c", "3");
    CHECK(world.returning("a") == "3");
    CHECK(world.returning("c").empty());
}

TEST_CASE("pods that were never resized come back as they are") {
    World world;
    world.put("a", "500m");
    world.put("b", "3500m");
    CHECK(world.returning("a").empty());
}

TEST_CASE("pods of several roles come back each with what it requested itself") {
    World world;
    world.put("head", "500m", "ray", "RayCluster");
    world.put("worker", "3500m", "ray", "RayCluster");
    world.put("step", "1", "ray", "RayCluster");
    world.resize("step", "200m");
    CHECK(world.returning("head").empty());
    CHECK(world.returning("worker").empty());
    CHECK(world.returning("step") == "1");
    world.run_for(61min);
    CHECK(world.returning("step").empty());
}

TEST_CASE("only the requests of a pod that was shrunk change when it comes back") {
    World world;
    world.put("a", "2");
    world.resize("a", "1");
    world.server.edit<api::Pod>({"default", "a"}, [](api::Pod& pod) {
        auto& container = pod.spec.containers->front();
        container.ports.push_back({});
        container.resources.requests["nvidia.com/gpu"] = api::Quantity::parse("1");
        pod.spec.containers->emplace_back().name = "sidecar";
    });
    world.run_for(1s);
    auto expected = *world.informers.pods.store().get({"default", "a"});
    expected.spec.containers->front().resources.requests["cpu"] = api::Quantity::parse("2");
    const auto all = world.informers.request_history.returning(world.informers.pods.store());
    REQUIRE(all.size() == 1);
    CHECK(all.begin()->second->spec == expected.spec);
}

TEST_CASE("a pod of the same name is another one that was not resized") {
    World world;
    world.put("a", "2", "db", "StatefulSet");
    world.put("b", "2", "db", "StatefulSet");
    world.put("c", "3", "db", "StatefulSet");
    // A list after a gap shows the successor in place of the pod.
    const auto old = *world.informers.pods.store().get({"default", "a"});
    auto successor = old;
    successor.metadata.uid = "another";
    successor.spec.containers->front().resources.requests["cpu"] = api::Quantity::parse("1");
    world.informers.request_history.observe(&old, &successor);
    CHECK(world.returning("b").empty());
}

TEST_CASE("pods that once came back large do so for a day") {
    World world;
    world.put("a", "1250m");
    world.resize("a", "100m");
    world.put("b", "1250m");
    world.server.remove<api::Pod>({"default", "a"}, 0);
    world.resize("b", "100m");
    world.run_for(23h);
    CHECK(world.returning("b") == "1250m");
    world.run_for(2h);
    CHECK(world.returning("b").empty());
}

TEST_CASE("the only pod of a StatefulSet is remembered until its successor is there") {
    World world;
    world.put("a", "1250m");
    world.resize("a", "100m");
    world.server.remove<api::Pod>({"default", "a"}, 0);
    world.run_for(1min);
    world.put("a", "1250m");
    world.resize("a", "100m");
    world.run_for(5h);
    CHECK(world.returning("a") == "1250m");
}

TEST_CASE("a pod with a resize that its node can never grant comes back with what it has") {
    World world;
    world.put("a", "500m", "db", "StatefulSet");
    world.resize("a", "100");
    const auto answer = [&](const std::string& reason) {
        world.server.edit<api::Pod>({"default", "a"}, [&](api::Pod& pod) {
            objects::set_condition(*pod.status.conditions, "PodResizePending", api::ConditionStatus::True,
                                   objects::kStart, reason);
            api::ContainerStatus status{pod.spec.containers->front().name, {}, api::ResourceRequirements{}};
            status.allocatedResources["cpu"] = api::Quantity::parse("500m");
            status.resources->requests = status.allocatedResources;
            pod.status.containerStatuses = {status};
        });
        world.run_for(1s);
    };
    answer("Deferred");
    CHECK(world.returning("a").empty());
    answer("Infeasible");
    CHECK(world.returning("a") == "500m");
}
