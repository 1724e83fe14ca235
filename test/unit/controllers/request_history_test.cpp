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

    void put(const std::string& name, const std::string& cpu, const std::string& owner = "web") {
        auto pod = test::a_pod(name).requesting(cpu, "1Gi").owner("ReplicaSet", owner).pod;
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
    // What programs shrink for good is given to new pods, too.
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
