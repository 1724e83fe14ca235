// Tests machines that join by their guest agent.
#include "providers/boot_sources.hpp"
#include "providers/capabilities.hpp"
#include "providers/launch.hpp"
#include "providers/removal.hpp"
#include "test/component/proxmox/template_world.hpp"

using namespace providers;
using namespace test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

// Guests has guests whose commands end as the test wants.
class Guests final : public proxmox_simulator::MachineHooks {
public:
    void on_machine_started(const proxmox_simulator::MachineView&) override {}
    void on_machine_stopped(const proxmox_simulator::MachineView&) override {}
    asio::awaitable<proxmox_simulator::GuestCommandResult> run(
        proxmox_simulator::MachineView, proxmox_simulator::GuestCommand command) override {
        commands.push_back(command);
        proxmox_simulator::GuestCommandResult result;
        auto& answers = command.input.empty() ? ready : joins;
        if (!answers.empty()) {
            result = answers.front();
            answers.erase(answers.begin());
        }
        co_return result;
    }

    std::size_t scripts_run() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(commands, [](const auto& command) { return !command.input.empty(); }));
    }

    std::vector<proxmox_simulator::GuestCommand> commands;
    std::vector<proxmox_simulator::GuestCommandResult> ready,
        joins;  // used one after the other, then success
};

class Join final : public GuestJoin {
public:
    asio::awaitable<JoinScript> script(MachineRecord placed) override {
        JoinScript result;
        result.script = "join from " + placed.host + " with abcdef.0123456789abcdef\n";
        result.secrets = {"abcdef.0123456789abcdef", "0123456789abcdef"};
        co_return result;
    }
};

struct World {
    Guests guests;
    Lab lab{world_with_template("shared")};
    Join join;
    MachineSpec spec;

    World() {
        use_template(lab, named("debian"));
        lab.simulator.cluster().hooks = &guests;
        join.ready_command = {"systemctl", "is-system-running", "--wait"};
        spec = lab.machine(1);
        spec.join = &join;
    }
    // Calls ensure until the attempt fails.
    AttemptFailed fail() {
        for (int calls = 0; calls < 1000; ++calls) {
            const auto result = lab.ensure(spec);
            if (const auto* failed = std::get_if<AttemptFailed>(&result)) return *failed;
            const auto& machine = std::get<Machine>(result);
            REQUIRE(machine.state != MachineState::running);
            spec.record = machine.record;
            lab.wait(machine.retry_after);
        }
        FAIL("the attempt never failed");
        return {};
    }
};

proxmox_simulator::GuestCommandResult ended(int exit_code, std::string output) {
    proxmox_simulator::GuestCommandResult result;
    result.exit_code = exit_code;
    result.output = std::move(output);
    return result;
}

// Places the machine and returns why it cannot be made yet.
std::string why_not_ready(Lab& lab, MachineSpec& spec) {
    lab.place(spec);
    const auto result = lab.ensure(spec);
    REQUIRE(std::holds_alternative<NotReady>(result));
    return std::get<NotReady>(result).message;
}

}  // namespace

TEST_CASE("A machine joins when its guest is ready, by a script on standard input") {
    World world;
    world.lab.launch(world.spec);
    REQUIRE(world.guests.commands.size() == 2);
    CHECK(world.guests.commands[0].arguments == world.join.ready_command);
    CHECK(world.guests.commands[1].arguments == std::vector<std::string>{"/bin/sh", "-s"});
    CHECK(world.guests.commands[1].input ==
          "join from " + world.spec.record.host + " with abcdef.0123456789abcdef\n");
    CHECK(world.spec.record.task.empty());
}

TEST_CASE("The agent tells which addresses its guest has; why it tells nothing is told, too") {
    World world;
    world.lab.launch(world.spec);
    auto& observer = *world.lab.provider->capabilities().guest_observer;
    const auto look = [&](const MachineSpec& spec) {
        return world.lab.run(observer.look_at_guest(spec.record));
    };
    auto sight = look(world.spec);
    CHECK(sight.answers);
    REQUIRE(sight.addresses.size() == 1);
    CHECK_THAT(sight.addresses.front(), StartsWith("10.98."));

    world.lab.vm(world.spec)->guest.agent_silent = true;
    sight = look(world.spec);
    CHECK_FALSE(sight.answers);
    CHECK(sight.obstacle.empty());

    world.lab.vm(world.spec)->config.erase("agent");
    sight = look(world.spec);
    CHECK_FALSE(sight.answers);
    CHECK(sight.obstacle == "No QEMU guest agent configured");
}

TEST_CASE("A guest that is not ready yet is asked again, one that is degraded will do") {
    World world;
    world.guests.ready = {ended(1, "starting\n"), ended(1, "degraded\n")};
    world.lab.launch(world.spec);
    CHECK(world.guests.commands.size() == 3);
}

TEST_CASE("A degraded guest is refused where that is asked for") {
    World world;
    world.join.accept_degraded = false;
    world.guests.ready.assign(1000, ended(1, "degraded\n"));
    const auto failed = world.fail();
    CHECK(failed.reason == "GuestNotReady");
    CHECK_THAT(failed.message, Contains("degraded"));
}

TEST_CASE("An agent that never answers ends the attempt after its time") {
    World world;
    world.lab.place(world.spec);
    auto spec = world.spec;
    while (!world.lab.vm(spec) || !world.lab.vm(spec)->running)
        world.lab.wait(world.lab.step(spec).retry_after);
    world.lab.vm(spec)->guest.agent_silent = true;
    world.spec = spec;
    const auto failed = world.fail();
    CHECK(failed.reason == "GuestNotReady");
    CHECK_THAT(failed.message, Contains("300 s") && Contains("does not answer"));
    CHECK(std::holds_alternative<Gone>(world.lab.destroy(world.spec)));
}

TEST_CASE("A join that fails is told with the end of its output, without the secret") {
    World world;
    world.guests.joins = {ended(3, "token abcdef.0123456789abcdef\nno route to host\n")};
    const auto failed = world.fail();
    CHECK(failed.reason == "JoinFailed");
    CHECK_THAT(failed.message, Contains("ended with 3") && Contains("no route to host") && Contains("***") &&
                                   !Contains("0123456789abcdef"));
}

TEST_CASE("A restart while the guest joins goes on following the same run") {
    World world;
    for (int calls = 0; world.guests.scripts_run() == 0; ++calls) {
        REQUIRE(calls < 100);
        world.lab.wait(world.lab.step(world.spec).retry_after);
    }
    world.lab.restart();
    world.lab.launch(world.spec);
    CHECK(world.guests.scripts_run() == 1);
}

TEST_CASE("A restart that loses the result of the join asks the script again, which does its work once") {
    World world;
    for (int calls = 0; world.guests.scripts_run() == 0; ++calls) {
        REQUIRE(calls < 100);
        world.lab.wait(world.lab.step(world.spec).retry_after);
    }
    world.lab.wait(10s);
    const auto before = world.spec.record;
    world.lab.step(world.spec);  // reads the result, which the agent reports only once
    world.spec.record = before;
    world.lab.restart();
    world.lab.launch(world.spec);
    CHECK(world.guests.scripts_run() == 2);
}

TEST_CASE("A privilege that is taken away while a machine joins is named with its path") {
    World world;
    while (world.spec.record.task.find("agent:") == std::string::npos) {
        const auto machine = world.lab.step(world.spec);
        world.lab.wait(machine.retry_after);
    }
    world.lab.simulator.cluster().world.custom_roles["KubeNodeSmith"].erase("VM.GuestAgent.Unrestricted");
    for (int calls = 0; calls < 100; ++calls) {
        const auto result = world.lab.ensure(world.spec);
        if (const auto* refused = std::get_if<NotReady>(&result)) {
            CHECK_THAT(refused->message, Contains("VM.GuestAgent.Unrestricted") &&
                                             Contains("/vms/" + world.spec.record.machine_id));
            return;
        }
        world.spec.record = std::get<Machine>(result).record;
        world.lab.wait(std::get<Machine>(result).retry_after);
    }
    FAIL("it was never refused");
}

TEST_CASE("Before Proxmox VE 9 the commands for the guest agent grant VM.Monitor, and no unknown privilege") {
    auto world = world_with_template("shared");
    world.version = "8.4.1";
    for (const auto* privilege :
         {"VM.GuestAgent.Audit", "VM.GuestAgent.FileWrite", "VM.GuestAgent.Unrestricted", "VM.Monitor"})
        world.custom_roles["KubeNodeSmith"].erase(privilege);
    Lab lab(world);
    use_template(lab, named("debian"));
    const auto check = [](const std::string& message) {
        CHECK_THAT(message,
                   Contains("VM.Monitor on /vms") && Contains("-privs '") && !Contains("VM.GuestAgent"));
    };
    check(lab.run(lab.provider->check()).guest_agent_obstacle);
    Join join;
    auto spec = lab.machine(1);
    spec.join = &join;
    check(why_not_ready(lab, spec));
}

TEST_CASE("Without the right to talk to guest agents nothing is made, and the privileges are named") {
    auto world = world_with_template("shared");
    for (const auto* privilege : {"VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted"})
        world.custom_roles["KubeNodeSmith"].erase(privilege);
    Lab lab(world);
    use_template(lab, named("debian"));
    Join join;
    auto spec = lab.machine(1);
    spec.join = &join;
    CHECK_THAT(why_not_ready(lab, spec),
               Contains("VM.GuestAgent.Audit on /vms") && Contains("VM.GuestAgent.Unrestricted on /vms"));
    CHECK(lab.vm(spec) == nullptr);
    lab.simulator.cluster().world.custom_roles["KubeNodeSmith"].merge(
        std::set<std::string>{"VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted"});
    lab.wait(60s);
    lab.launch(spec);
}
