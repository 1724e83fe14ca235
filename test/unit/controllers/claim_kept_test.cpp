// Tests scaleUp.keepFailed: the last machine that never joined is stopped and kept for inspection.
#include "controllers/claim/decide/keeping.hpp"
#include "controllers/limits/limits.hpp"
#include "test/support/cluster_info.hpp"
#include "test/unit/bootstrap/certificate.hpp"
#include "test/unit/controllers/claim_scene.hpp"
#include "test/unit/controllers/claim_world.hpp"

using namespace test;

namespace {

// Failing is a claim whose last attempt did not join in time, and whose pool keeps such machines.
struct Failing : Scene {
    Failing() {
        launched();
        pool.spec.scaleUp.keepFailed = 1;
        claim.status.launchAttempts = pool.spec.scaleUp.maxLaunchAttempts;
        now = at(15min);
    }
    Failing& failed() {
        claim.status = decide().status;
        REQUIRE(is_true(claim, conditions::kFailed));
        return *this;
    }
    Failing& kept() {
        failed().searched_in_vain();
        CHECK(decide().step == Step::stop_machine);
        claim.status = after_stop(situation(), providers::Stopped{});
        return *this;
    }
    std::string why_not_deleted() const {
        return condition(claim.status, conditions::kMachineDeleted).reason;
    }
};

// Keeping has a pool whose machines never join.
struct Keeping : claims::World {
    Keeping() {
        machines_join = false;
        server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
            pool.spec.scaleUp.keepFailed = 1;
            pool.spec.scaleUp.maxLaunchAttempts = 1;
            pool.spec.scaleUp.registrationTimeout = api::Duration(1min);
        });
    }
    bool kept(const std::string& name = "c") {
        return reason(conditions::kMachineDeleted, name) == reasons::kKept;
    }
    fake::CloudMachine& machine_of(const std::string& name) {
        for (auto& [id, machine] : cloud.machines)
            if (machine.name == name) return machine;
        throw std::logic_error("there is no machine of claim " + name);
    }
    bool has_machine(const std::string& name) {
        return std::ranges::any_of(cloud.machines,
                                   [&name](const auto& entry) { return entry.second.name == name; });
    }
};

}  // namespace

TEST_CASE("the machine of a claim that failed because it never joined is stopped, not removed") {
    Failing scene;
    scene.claim.status.bootstrapTokenID = "abcdef";
    scene.failed();
    CHECK(scene.decide().step == Step::revoke_token);
    scene.claim.status.bootstrapTokenID.clear();
    scene.searched_in_vain();
    CHECK(scene.why_not_deleted() == kStopping);
    CHECK(scene.decide().step == Step::stop_machine);
    CHECK(controllers::limits::counts(scene.claim));

    scene.claim.status = after_stop(scene.situation(), providers::RemovalInProgress{"shutting down", "task"});
    CHECK(scene.why_not_deleted() == kStopping);
    CHECK(scene.claim.status.taskRef == "task");
    scene.claim.status = after_stop(scene.situation(), providers::Stopped{});
    CHECK(scene.claim.status.keptSince == scene.now);
    CHECK(scene.why_not_deleted() == reasons::kKept);
    CHECK(condition(scene.claim.status, conditions::kMachineDeleted).message ==
          "VM 101 on host pve1 never joined and is kept, stopped, for inspection (scaleUp.keepFailed); it "
          "counts against no limit. To remove it: kubectl delete nodesmithclaim c -n default");
    CHECK_FALSE(controllers::limits::counts(scene.claim));
    CHECK(phase_of(scene.claim) == ClaimPhase::Failed);
    scene.now = at(100h);
    CHECK(scene.decide().step == Step::nothing);
    CHECK_FALSE(scene.decide().look_again);
    CHECK(scene.decide().status == scene.claim.status);
}

TEST_CASE("an attempt that is not the last, and a failure of another kind, keep nothing") {
    SECTION("not the last") {
        Failing scene;
        scene.claim.status.launchAttempts = 1;
        scene.claim.status = scene.decide().status;
        scene.searched_in_vain();
        CHECK(scene.decide().step == Step::remove_machine);
    }
    SECTION("it did not come up") {
        Failing scene;
        scene.placed(3);
        scene.set(conditions::kLaunched, ConditionStatus::False);
        scene.claim.status =
            after_ensure(scene.situation(), providers::AttemptFailed{"StartFailed", "no bootable disk"});
        scene.searched_in_vain();
        CHECK(scene.decide().step == Step::remove_machine);
    }
    SECTION("bare metal is given back") {
        Failing scene;
        scene.provider.spec.proxmox.reset();
        scene.provider.spec.redfish.emplace();
        scene.failed().searched_in_vain();
        CHECK(scene.decide().step == Step::remove_machine);
    }
    SECTION("the pool does without") {
        Failing scene;
        scene.pool.spec.scaleUp.keepFailed = 0;
        scene.failed().searched_in_vain();
        CHECK(scene.decide().step == Step::remove_machine);
    }
}

TEST_CASE("a join by way of the guest agent that failed keeps its machine, too") {
    Failing scene;
    scene.placed(3);
    scene.set(conditions::kLaunched, ConditionStatus::Unknown);
    scene.claim.status =
        after_ensure(scene.situation(), providers::AttemptFailed{"JoinFailed", "the join script ended"});
    scene.searched_in_vain();
    CHECK(scene.decide().step == Step::stop_machine);
}

TEST_CASE("a machine that joined after all is drained and removed, not kept") {
    Failing scene;
    scene.failed().searched_in_vain();
    Failing late;
    late.joined();
    scene.node = late.node;
    objects::set_condition(scene.node->status.conditions, conditions::kReady, ConditionStatus::True);
    CHECK(scene.decide().step == Step::taint_node);
    scene.tainted();
    CHECK(scene.decide().step == Step::drain);
    scene.set(conditions::kDrained, ConditionStatus::True);
    CHECK(scene.decide().step == Step::remove_machine);
    CHECK(condition(scene.decide().status, conditions::kMachineDeleted).reason == reasons::kDeleting);
}

TEST_CASE("a machine stays while its pool exists and cannot be decoded") {
    Failing scene;
    SECTION("kept") {
        scene.kept();
    }
    SECTION("about to be kept") {
        scene.failed().searched_in_vain();
    }
    SECTION("late by the default of registrationTimeout, which the pool may have changed") {}
    SECTION("of a claim that was deleted") {
        scene.kept();
        scene.claim.metadata.deletionTimestamp = scene.now;
    }
    scene.with_pool = false;
    scene.is_pool_unreadable = true;
    const auto decision = scene.decide();
    CHECK(decision.step == Step::nothing);
    CHECK(decision.look_again);
    CHECK(api::is_true(decision.status.conditions, conditions::kFailed) ==
          is_true(scene.claim, conditions::kFailed));
}

TEST_CASE("a kept machine ends with its claim, whoever ends that") {
    Failing scene;
    scene.kept();
    SECTION("its pool does without") {
        scene.pool.spec.scaleUp.keepFailed = 0;
        CHECK(scene.decide().step == Step::delete_claim);
    }
    SECTION("its pool is being deleted") {
        scene.pool.metadata.deletionTimestamp = scene.now;
        CHECK(scene.decide().step == Step::delete_claim);
    }
    SECTION("its user says that the machine is gone") {
        scene.claim.metadata.annotations[std::string(api::annotations::kMachineGone)] = "true";
        CHECK(scene.decide().step == Step::delete_claim);
    }
    SECTION("its pool keeps a younger one") {
        auto situation = scene.situation();
        situation.is_superseded = true;
        CHECK(decide(situation).step == Step::delete_claim);
    }
    scene.deleted(scene.now);
    const auto removal = scene.decide();
    CHECK(removal.step == Step::remove_machine);
    CHECK(condition(removal.status, conditions::kMachineDeleted).reason == reasons::kDeleting);
    CHECK_FALSE(controllers::limits::counts(scene.claim));
    scene.claim.status = after_removal(scene.situation(), providers::Gone{});
    CHECK_FALSE(scene.claim.status.keptSince);
}

TEST_CASE("who starts a kept machine finds its Node closed to pods, and nothing else is done to it") {
    Failing scene;
    scene.kept();
    Failing late;
    late.joined();
    scene.node = late.node;
    CHECK(scene.decide().step == Step::taint_node);
    scene.tainted();
    CHECK(scene.decide().step == Step::nothing);
    objects::set_condition(scene.node->status.conditions, conditions::kReady, ConditionStatus::True);
    CHECK(scene.decide().step == Step::nothing);
    scene.deleted(scene.now);
    CHECK(scene.decide().step == Step::drain);
}

TEST_CASE("what stands in the way of stopping is said, and does not change what is intended") {
    Failing scene;
    scene.failed().searched_in_vain();
    scene.claim.status =
        after_stop(scene.situation(), providers::RemovalBlocked{"Locked", "it is backed up"});
    CHECK(scene.why_not_deleted() == "Locked");
    CHECK(scene.decide().step == Step::stop_machine);
    CHECK(scene.decide().status == scene.claim.status);
    scene.pool.spec.scaleUp.keepFailed = 0;
    CHECK(scene.decide().step == Step::remove_machine);
}

TEST_CASE("a kept machine is off, and goes when its claim is deleted") {
    Keeping world;
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.kept(); }));
    CHECK(world.machine_of("c").state == providers::MachineState::stopped);
    CHECK(world.claim()->status.keptSince);
    const auto is_told = [](const std::string& event) { return event.starts_with("Kept: VM 100"); };
    CHECK(std::ranges::count_if(world.events, is_told) == 1);

    const auto writes = world.server.writes().size();
    world.run(3h);
    CHECK(world.kept());
    CHECK(world.server.writes().size() == writes);

    world.server.remove<NodeSmithClaim>(claims::kClaim);
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
    CHECK(world.clean());
}

TEST_CASE("only the last machine of a pool is kept") {
    Keeping world;
    claims::Process process(world);
    world.launch("first");
    REQUIRE(world.run_until([&] { return world.kept("first"); }));
    world.launch("second");
    REQUIRE(world.run_until([&] { return world.kept("second"); }));
    REQUIRE(world.run_until([&] { return world.gone("first"); }, 1min));
    CHECK_FALSE(world.has_machine("first"));
    world.run(10min);
    CHECK(world.kept("second"));
    CHECK(world.has_machine("second"));
}

TEST_CASE("a pool that is told to keep nothing any more removes what it kept") {
    Keeping world;
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.kept(); }));
    world.server.edit<NodeSmithPool>({"default", "p"},
                                     [](NodeSmithPool& pool) { pool.spec.scaleUp.keepFailed = 0; });
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
    CHECK(world.clean());
}

TEST_CASE("a kept machine that somebody removed is looked at no more") {
    Keeping world;
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.kept(); }));
    world.cloud.destroy(world.machine_of("c").machine_id);
    REQUIRE(world.run_until([&] { return world.gone(); }, 2h));
    CHECK(world.clean());
}

TEST_CASE("a crash after any outside call ends with one machine that is kept, stopped, and without a token") {
    for (int call = 1; call < 80; ++call) {
        Keeping world;
        world.server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
            pool.spec.bootstrap.emplace().method = api::v1alpha1::BootstrapMethod::CloudInit;
        });
        world.server.put(test::cluster_info(test::kCACertificate));
        world.launch();
        bool crashed = false;
        {
            claims::CrashPoint point(call, claims::CrashPoint::When::after);
            claims::Process process(world, &point, &point);
            world.run_until([&] { return point.crashed() || world.kept(); });
            crashed = point.crashed();
        }
        claims::Process next(world);
        INFO("call " << call);
        REQUIRE(world.run_until([&] { return world.kept(); }));
        CHECK(world.cloud.created() == 1);
        CHECK(world.cloud.violations().empty());
        CHECK(world.machine_of("c").state == providers::MachineState::stopped);
        CHECK(world.server.list<api::Secret>().empty());
        if (!crashed) break;
        CHECK(call < 79);
    }
}
