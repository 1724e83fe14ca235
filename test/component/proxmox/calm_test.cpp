// Tests a host that its cluster cannot reach. The endpoint answers for it, and does not know whether a change
// took effect.
#include "test/component/proxmox/lab.hpp"

using namespace providers;
using namespace std::chrono_literals;
using test::Lab;

namespace {

proxmox_simulator::RequestFault no_route() {
    proxmox_simulator::RequestFault fault;
    fault.status = 595;
    fault.reason = "No route to host";
    return fault;
}

constexpr int kForLong = 10'000;

}  // namespace

TEST_CASE(
    "A creation that does not come through to its host is tried with growing pauses, and made once it does") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.simulator.faults().add("POST", "/nodes/[^/]+/qemu", no_route(), kForLong);
    for (int second = 0; second < 600; ++second) {
        CHECK(std::holds_alternative<NotReady>(lab.ensure(spec)));
        lab.wait(1s);
    }
    CHECK(lab.count("POST", "/nodes/[^/]+/qemu") >= 8);
    CHECK(lab.count("POST", "/nodes/[^/]+/qemu") <= 16);
    lab.simulator.faults().clear();
    lab.wait(1min);
    lab.launch(spec);
    CHECK(lab.simulator.cluster().world.machines.size() == 1);
}

TEST_CASE(
    "A removal that does not come through to its host is tried with growing pauses, and done once it does") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.faults().add("POST|DELETE", "/nodes/[^/]+/qemu/.*", no_route(), kForLong);
    lab.log.clear();
    for (int second = 0; second < 600; ++second) {
        CHECK(std::holds_alternative<RemovalInProgress>(lab.remove(spec)));
        lab.wait(1s);
    }
    CHECK(lab.count("POST", "/nodes/[^/]+/qemu/.*") >= 8);
    CHECK(lab.count("POST", "/nodes/[^/]+/qemu/.*") <= 16);
    lab.simulator.faults().clear();
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("A lost answer to one change delays the machine by seconds") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.simulator.faults().add("POST", "/nodes/[^/]+/qemu", no_route());
    const auto begin = lab.clock.now();
    for (int second = 0; second < 60; ++second) {
        const auto result = lab.ensure(spec);
        if (const auto* machine = std::get_if<Machine>(&result)) {
            spec.record = machine->record;
            if (machine->state == MachineState::running) break;
        }
        lab.wait(1s);
    }
    CHECK(lab.vm(spec)->running);
    CHECK(lab.clock.now() - begin <= 10s);
}

TEST_CASE(
    "Reads that fail in passing are repeated after pauses that grow, and one that succeeds ends these") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    // Another process made the machine, so this one knows nothing of it.
    spec.record.task.clear();
    lab.restart();
    const auto refuse = [&](int times) {
        lab.simulator.faults().add("GET", "/nodes/[^/]+/qemu/.*/config",
                                   {.status = 500, .reason = "got timeout"}, times);
    };
    const auto pause = [&] {
        const auto ensured = lab.ensure(spec);
        const auto* waiting = std::get_if<NotReady>(&ensured);
        return waiting ? waiting->retry_after : base::Duration::zero();
    };
    const auto pause_of_removal = [&] {
        const auto removal = lab.remove(spec);
        const auto* waiting = std::get_if<RemovalInProgress>(&removal);
        return waiting ? waiting->retry_after : base::Duration::zero();
    };
    refuse(kForLong);
    CHECK(pause() == 3s);
    CHECK(pause() == 6s);
    for (int i = 0; i < 10; ++i) pause();
    CHECK(pause() == 1min);
    lab.simulator.faults().clear();
    CHECK(pause() == 0s);
    refuse(kForLong);
    CHECK(pause() == 3s);
    CHECK(pause_of_removal() == 3s);
    CHECK(pause_of_removal() == 6s);
}

namespace {

// Takes steps until one waits for others.
Machine until_it_waits(Lab& lab, MachineSpec& spec) {
    for (int second = 0; second < 60; ++second) {
        auto machine = lab.step(spec);
        if (machine.waits_for_others) return machine;
        REQUIRE(machine.state != MachineState::running);
        lab.wait(1s);
    }
    FAIL("it never waited for others");
    return {};
}

}  // namespace

TEST_CASE("A machine that a backup locks before its start waits for others, and this time is counted") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    CHECK_FALSE(lab.step(spec).waits_for_others);
    lab.wait(10s);
    REQUIRE_FALSE(lab.vm(spec)->running);
    lab.vm(spec)->config["lock"] = "backup";
    const bool is_restarted = GENERATE(false, true);
    if (is_restarted) lab.restart();
    until_it_waits(lab, spec);
    lab.wait(8min);
    const auto locked = until_it_waits(lab, spec);
    CHECK(locked.waited >= 8min);
    CHECK(locked.waited <= 10min);
    lab.vm(spec)->config.erase("lock");
    auto starting = lab.step(spec);
    CHECK_FALSE(starting.waits_for_others);
    CHECK(starting.waited >= locked.waited);
    // Time of the host itself does not count.
    const auto waited = starting.waited;
    lab.wait(1s);
    starting = lab.step(spec);
    CHECK((starting.state == MachineState::running || starting.waited == waited));
    lab.launch(spec);
}

TEST_CASE("A machine waits for others while tasks lack a right and while calls are refused") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.simulator.faults().add_task("qmcreate", ".*",
                                    {proxmox_simulator::TaskTrouble::fail_at_once,
                                     "403 Permission check failed (/sdn/zones/localnetwork/vmbr0, SDN.Use)"});
    until_it_waits(lab, spec);
    // The next call is refused: no machine is reported, and it still waits.
    lab.simulator.faults().add("POST", "/nodes/[^/]+/qemu",
                               {.status = 403, .reason = "Permission check failed (/vms/1000, VM.Allocate)"});
    lab.wait(1min);
    CHECK(std::holds_alternative<NotReady>(lab.ensure(spec)));
    lab.wait(1min);
    const auto creating = lab.step(spec);
    CHECK_FALSE(creating.waits_for_others);
    CHECK(creating.waited >= 2min);
    lab.launch(spec);
    auto next = lab.machine(2);
    lab.place(next);
    CHECK(lab.step(next).waited == 0s);
}
