// Tests when a claim accepts that its machine is gone, and when it waits.
#include "controllers/claim/decide/vanished.hpp"

#include "controllers/orphans.hpp"
#include "controllers/state/course.hpp"
#include "test/unit/controllers/claim_scene.hpp"

namespace {

using namespace test;

Scene missing() {
    Scene scene;
    scene.in_service();
    scene.machine.is_gone = true;
    return scene;
}

void silence(Scene& scene) {
    api::ConditionUpdate update;
    update.type = conditions::kReady;
    update.status = ConditionStatus::Unknown;
    update.reason = "NodeStatusUnknown";
    api::set_condition(scene.node->status.conditions, update, scene.now);
}

void state_gone(Scene& scene) {
    scene.claim.metadata.annotations[std::string(api::annotations::kMachineGone)] = "true";
}

void is_on(Scene& scene, const std::string& claims, const std::string& providers) {
    scene.claim.status.cluster = claims;
    scene.provider.status.cluster = api::v1alpha1::ProviderCluster{"lab", providers};
}

TEST_CASE("what a person said of one machine does not count for the next one") {
    Scene scene;
    const auto key = GENERATE(api::annotations::kMachineGone, api::annotations::kLocalVolumes);
    scene.claim.metadata.annotations[std::string(key)] =
        key == api::annotations::kMachineGone ? "true" : "discard";
    scene.claim.status.launchAttempts = 1;
    CHECK(scene.decide().step == Step::forget_statements);
    CHECK(scene.decide().status.launchAttempts == 1);
    scene.claim.metadata.annotations->clear();
    CHECK(scene.decide().status.launchAttempts == 2);
}

TEST_CASE("a machine whose Node is Ready has not vanished: the claim says so and waits") {
    auto scene = missing();
    const auto decision = scene.decide();
    CHECK(decision.step == Step::nothing);
    CHECK_FALSE(api::find_condition(decision.status.conditions, conditions::kMachineDeleted));
    const auto& found = condition(decision.status, conditions::kMachineFound);
    CHECK(found.status == ConditionStatus::False);
    CHECK(found.reason == reasons::kNodeIsReady);
    CHECK_THAT(found.message, Catch::Contains("kubenodesmith.io/machine-gone=true"));
    SECTION("until its kubelet falls silent") {
        silence(scene);
        CHECK(has_reason(scene.decide().status, conditions::kMachineDeleted, reasons::kMachineVanished));
    }
    SECTION("until a person states that it is gone") {
        state_gone(scene);
        CHECK(has_reason(scene.decide().status, conditions::kMachineDeleted, reasons::kMachineVanished));
    }
    SECTION("and the condition goes when the machine is found again") {
        scene.claim.status = decision.status;
        scene.machine.is_gone = false;
        CHECK_FALSE(api::find_condition(scene.decide().status.conditions, conditions::kMachineFound));
    }
}

TEST_CASE("a machine that is gone with many others waits for a person, also without a Ready Node") {
    auto scene = missing();
    silence(scene);
    scene.machine.doubt = "and 3 of 4 machines of the provider disappeared at the same time";
    const auto waits = scene.decide();
    CHECK_FALSE(api::find_condition(waits.status.conditions, conditions::kMachineDeleted));
    CHECK(condition(waits.status, conditions::kMachineFound).reason == reasons::kManyVanished);
    state_gone(scene);
    CHECK(has_reason(scene.decide().status, conditions::kMachineDeleted, reasons::kMachineVanished));
}

TEST_CASE("one machine is believed to be gone in any cluster, of more than ten a tenth is, and no more") {
    CHECK_FALSE(controllers::are_many(1, 1));
    CHECK_FALSE(controllers::are_many(1, 2));
    CHECK(controllers::are_many(2, 2));
    CHECK(controllers::are_many(2, 3));
    CHECK(controllers::are_many(2, 19));
    CHECK_FALSE(controllers::are_many(2, 20));
    CHECK_FALSE(controllers::are_many(10, 100));
    CHECK(controllers::are_many(11, 100));
}

TEST_CASE("what is not found on another cluster than the machine's is not gone") {
    auto scene = missing();
    silence(scene);
    is_on(scene, "AA:01", "BB:02");
    CHECK(condition(scene.decide().status, conditions::kMachineFound).reason == reasons::kOtherCluster);
    is_on(scene, "AA:01", "AA:01");
    CHECK(has_reason(scene.decide().status, conditions::kMachineDeleted, reasons::kMachineVanished));
}

TEST_CASE("a machine on another cluster is removed nowhere, unless a person states that it is gone") {
    Scene scene;
    scene.in_service().deleted().tainted();
    scene.set(conditions::kDrained, ConditionStatus::True);
    is_on(scene, "AA:01", "BB:02");
    const auto waits = scene.decide();
    CHECK(waits.step == Step::nothing);
    CHECK(condition(waits.status, conditions::kMachineDeleted).reason == reasons::kOtherCluster);
    state_gone(scene);
    CHECK(scene.decide().step == Step::remove_machine);
}

TEST_CASE("a machine that is being made on another cluster is not made anew on this one") {
    Scene scene;
    scene.placed();
    is_on(scene, "AA:01", "BB:02");
    const auto waits = scene.decide();
    CHECK(waits.step == Step::nothing);
    CHECK(condition(waits.status, conditions::kLaunched).reason == reasons::kOtherCluster);
    is_on(scene, "AA:01", "AA:01");
    CHECK(scene.decide().step == Step::launch);
}

TEST_CASE("a claim records the cluster that its machine was found on") {
    Scene scene;
    scene.in_service();
    is_on(scene, "AA:01", "BB:02");
    scene.machine = {false, "pve1", "", "", "BB:02"};
    CHECK(scene.decide().status.cluster == "BB:02");
    Scene placed;
    placed.begun();
    is_on(placed, "", "AA:01");
    providers::Machine machine;
    machine.record = {"pve1", "101", ""};
    CHECK(after_ensure(placed.situation(), machine).cluster == "AA:01");
}

}  // namespace
