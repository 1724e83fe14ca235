// Tests machines in service that are off. The operator starts them again, or leaves them off if a person
// switched them off.
#include "controllers/claim/act/starter.hpp"
#include "controllers/claim/facts/power.hpp"
#include "test/unit/controllers/claim_scene.hpp"
#include "test/unit/controllers/claim_world.hpp"

using namespace test;

namespace {

// Outage is a cluster after a power failure: all machines are off, and no kubelet reports any longer.
struct Outage : claims::World {
    Outage() { cloud.starts_again = true; }
    void lose_power() {
        for (auto& [id, machine] : cloud.machines) machine.state = providers::MachineState::stopped;
        set_ready(api::ConditionStatus::Unknown);
    }
    void set_ready(api::ConditionStatus status) {
        server.edit<api::Node>({"", "c"}, [&](api::Node& node) {
            objects::set_condition(node.status.conditions, api::conditions::kReady, status,
                                   api::Time(clock.wall_now()));
        });
    }
    providers::MachineState state() const { return cloud.machines.begin()->second.state; }
};

Scene dark() {
    Scene scene;
    scene.in_service();
    objects::set_condition(scene.node->status.conditions, conditions::kReady, ConditionStatus::Unknown,
                           at(100s));
    objects::set_condition(scene.claim.status.conditions, conditions::kReady, ConditionStatus::False,
                           at(100s));
    return scene;
}

}  // namespace

TEST_CASE("a machine that went off with its host is started again, and its claim says so") {
    Outage world;
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.lose_power();
    world.run(50s);
    CHECK(world.state() == providers::MachineState::stopped);
    REQUIRE(world.run_until([&] { return world.condition(conditions::kPoweredOff) != nullptr; }, 1min));
    CHECK(world.reason(conditions::kPoweredOff) == reasons::kStarting);
    REQUIRE(world.run_until([&] { return world.state() == providers::MachineState::running; }, 1min));
    world.set_ready(api::ConditionStatus::True);
    world.run(10s);
    CHECK_FALSE(world.condition(conditions::kPoweredOff));
    CHECK(world.ready());
    CHECK(world.cloud.created() == 1);
}

TEST_CASE("a machine that somebody switched off stays off, and he is named") {
    Outage world;
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.lose_power();
    world.cloud.machines.begin()->second.switched_off_by = "root@pam";
    world.run(10min);
    CHECK(world.state() == providers::MachineState::stopped);
    CHECK(world.reason(conditions::kPoweredOff) == reasons::kSwitchedOffByOthers);
    CHECK(world.condition(conditions::kPoweredOff)->message == "root@pam switched it off");
}

TEST_CASE("a claim says why its provider cannot start its machine again") {
    Outage world;
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.lose_power();
    world.cloud.restart_error = "starting VM 105: permission denied";
    world.run(3min);
    const auto* off = world.condition(conditions::kPoweredOff);
    REQUIRE(off);
    CHECK(off->message.find("permission denied") != std::string::npos);
    world.cloud.restart_error.clear();
    CHECK(world.run_until([&] { return world.state() == providers::MachineState::running; }, 3min));
}

TEST_CASE("a provider that cannot say who switches machines off starts none") {
    Outage world;
    world.cloud.starts_again = false;
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.lose_power();
    world.run(10min);
    CHECK(world.state() == providers::MachineState::stopped);
    CHECK_FALSE(world.condition(conditions::kPoweredOff));
}

TEST_CASE("a node that is not Ready for a minute has its machine looked at, unless the mode forbids deeds") {
    auto scene = dark();
    scene.now = at(150s);
    CHECK(scene.decide().step == Step::nothing);
    CHECK(scene.decide().look_again == at(160s));
    scene.now = at(160s);
    CHECK(scene.decide().step == Step::start_machine);
    // If the mode is unknown, it may be one that forbids actions.
    for (const auto reason :
         {reasons::kObserve, reasons::kPaused, reasons::kUnknownValue, reasons::kNotSelected}) {
        scene.hold = Hold{std::string(reason), "nothing is done"};
        CHECK(scene.decide().step == Step::nothing);
    }
    scene.hold = Hold{std::string(reasons::kLabelConflict), "nothing is launched"};
    CHECK(scene.decide().step == Step::start_machine);
    scene.hold.reset();
    scene.set(conditions::kDisrupted, ConditionStatus::True, reasons::kUnhealthy);
    CHECK(scene.decide().step != Step::start_machine);
}

TEST_CASE("what the provider answers is said on the claim, and taken back when the machine runs") {
    auto scene = dark();
    scene.now = at(200s);
    const auto reason = [&](const providers::RestartResult& result) {
        scene.claim.status = after_restart(scene.situation(), result);
        const auto* off = api::find_condition(scene.claim.status.conditions, conditions::kPoweredOff);
        return off ? off->reason : std::string();
    };
    CHECK(reason(providers::WaitsForStart{"is being started", 3s}) == reasons::kStarting);
    CHECK(is_being_started(scene.claim, at(700s)));
    CHECK_FALSE(is_being_started(scene.claim, at(801s)));
    CHECK(reason(providers::HostIsDown{"its host is down"}) == reasons::kHostUnreachable);
    CHECK_FALSE(is_being_started(scene.claim, at(201s)));
    scene.now = at(900s);
    CHECK(reason(providers::WaitsForStart{"is being started", 3s}) == reasons::kStarting);
    CHECK(is_being_started(scene.claim, at(1400s)));
    CHECK(reason(providers::NoRoomToStart{"no memory"}) == reasons::kWaitingForRoom);
    CHECK_FALSE(is_being_started(scene.claim, at(201s)));
    CHECK_FALSE(does_not_start(scene.claim));
    CHECK(reason(providers::StartFails{"no bridge", 30s}) == reasons::kStartFailed);
    CHECK(does_not_start(scene.claim));
    CHECK(reason(providers::Runs{}).empty());
}
