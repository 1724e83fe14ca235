// Tests how long a claim waits for room, and what changes by its user do meanwhile.
#include "test/unit/controllers/claim_scene.hpp"

namespace {

using namespace test;

TEST_CASE("room is waited for as long as a machine may take, then the claim ends and says so") {
    Scene scene;
    scene.begun();
    const auto look = [&](std::chrono::minutes now) {
        scene.now = at(now);
        scene.claim.status =
            after_ensure(scene.situation(), providers::InsufficientCapacity{"pve1: 2 GiB missing"});
    };
    look(1min);
    CHECK(scene.claim.status.waitsForRoomSince == at(1min));
    look(10min);
    CHECK_FALSE(is_true(scene.claim, conditions::kFailed));
    look(11min);
    REQUIRE(is_true(scene.claim, conditions::kFailed));
    CHECK(condition(scene.claim.status, conditions::kFailed).reason == reasons::kInsufficientCapacity);
    CHECK(condition(scene.claim.status, conditions::kFailed).message ==
          "no host had room within 10m0s: pve1: 2 GiB missing");
    // Nothing was made, so its place within the limits is free immediately.
    CHECK(is_true(NodeSmithClaim{scene.claim.metadata, scene.claim.spec, scene.decide().status},
                  conditions::kMachineDeleted));
}

TEST_CASE("a claim that no host can take ever ends at once, with what to do about it") {
    Scene scene;
    scene.begun();
    scene.claim.status =
        after_ensure(scene.situation(), providers::InsufficientCapacity{"pve1: too small", true});
    const auto& failed = condition(scene.claim.status, conditions::kFailed);
    CHECK(failed.reason == reasons::kNoHostLargeEnough);
    CHECK(failed.message == "pve1: too small; make the sizes of pool p smaller, or add a larger host");
}

TEST_CASE("a user's changes take effect on created claims that have no machine yet") {
    Scene scene;
    scene.begun();
    scene.pool.spec.machineTemplate.flexible.emplace().cpuCores.max = 1;
    const auto smaller = scene.decide();
    CHECK(smaller.step == Step::delete_claim);
    CHECK(condition(smaller.status, conditions::kLaunched).reason == reasons::kWithdrawn);
    CHECK(condition(smaller.status, conditions::kLaunched).message ==
          "pool p no longer offers machines of 2c/4Gi");

    scene.pool.spec.machineTemplate.flexible.reset();
    scene.hold = Hold{std::string(reasons::kLimitExceeded), "2 of 2 nodes are in use"};
    CHECK(scene.decide().step == Step::delete_claim);
    SECTION("but not on one that its user made") {
        scene.claim.spec.idempotencyKey.clear();
        CHECK(scene.decide().step == Step::nothing);
    }
    SECTION("nor on one whose machine may exist") {
        scene.placed();
        CHECK(scene.decide().step == Step::launch);
    }
}

}  // namespace
