// Tests on which cluster a provider's machines are: how the operator records the cluster, defends the record,
// and lets a person change it.
#include "test/support/catch.hpp"
#include "test/unit/controllers/provider_world.hpp"

namespace {

using namespace provider_tests;
namespace conditions = api::conditions;

const std::string kRight = "AA:01";
const std::string kOther = "BB:02";

void answer_as_other(World& world, const std::string& name = "other") {
    world.script.health = {};
    world.script.health.reason = "OtherCluster";
    world.script.health.message = "https://pve1:8006 belongs to cluster " + name;
    world.script.health.cluster = {name, kOther};
    world.edit([](NodeSmithProvider& provider) { provider.metadata.annotations["edited"] = "once more"; });
    world.run_for(10min);
}

void record(World& world) {
    world.script.health.cluster = {"lab", kRight};
    world.start();
    world.run_for(1min);
    REQUIRE(world.provider().status.cluster);
}

void annotate(World& world, const std::string& cluster) {
    world.edit([&cluster](NodeSmithProvider& provider) {
        provider.metadata.annotations[std::string(api::annotations::kAcceptCluster)] = cluster;
    });
    world.run_for(1min);
}

bool is_annotated(World& world) {
    return world.provider().metadata.annotations->contains(std::string(api::annotations::kAcceptCluster));
}

TEST_CASE("the cluster that answers first is recorded") {
    World world;
    record(world);
    CHECK(world.provider().status.cluster->name == "lab");
    CHECK(world.provider().status.cluster->id == kRight);
}

TEST_CASE("a cluster that is refused is not recorded, also where none was recorded before") {
    World world;
    world.script.failure = "permission denied";
    world.start();
    world.run_for(1min);
    world.script.failure.clear();
    answer_as_other(world);
    CHECK(world.condition("Ready") == "False OtherCluster");
    CHECK_FALSE(world.provider().status.cluster);
}

TEST_CASE("a provider that answers for another cluster is not Ready, names both, and says how to move") {
    World world;
    record(world);
    answer_as_other(world);
    CHECK(world.condition("Ready") == "False OtherCluster");
    CHECK_THAT(world.message("Ready"), Catch::Contains("kubenodesmith.io/accept-cluster=" + kOther));
    CHECK(world.provider().status.cluster->id == kRight);
}

TEST_CASE("a person confirms a move by the other cluster's name or identity, and each time anew") {
    World world;
    record(world);
    answer_as_other(world);
    annotate(world, GENERATE(std::string("other"), kOther));
    CHECK(world.provider().status.cluster->id == kOther);
    CHECK(world.provider().status.cluster->name == "other");
    CHECK_FALSE(is_annotated(world));
    world.script.health.cluster = {"third", "CC:03"};
    world.run_for(10min);
    CHECK(world.condition("Ready") == "False OtherCluster");
    CHECK(world.provider().status.cluster->name == "other");
}

TEST_CASE("a confirmation that names something else, or a name that both clusters bear, changes nothing") {
    World world;
    record(world);
    answer_as_other(world, "lab");
    annotate(world, GENERATE(std::string("lab"), std::string("third"), std::string()));
    CHECK(world.provider().status.cluster->id == kRight);
}

TEST_CASE("a name that becomes visible later is added to the cluster's identity") {
    World world;
    world.script.health.cluster = {"", kRight};
    world.start();
    world.run_for(1min);
    CHECK(world.provider().status.cluster->name.empty());
    world.script.health.cluster = {"lab", kRight};
    world.run_for(10min);
    CHECK(world.provider().status.cluster->name == "lab");
}

}  // namespace
