// The operator dies, or an answer is lost, at any moment. The next call finds out what happened.
#include "test/component/proxmox/lab.hpp"

using namespace providers;
using proxmox_simulator::Moment;
using proxmox_simulator::RequestFault;
using test::Lab;

namespace {

RequestFault lost(Moment moment) {
    RequestFault fault;
    fault.moment = moment;
    fault.lose_connection = true;
    return fault;
}

std::size_t machines_of(Lab& lab, const std::string& name) {
    std::size_t count = 0;
    for (const auto& [id, vm] : lab.simulator.cluster().world.machines)
        count += vm.config.contains("name") && vm.config.at("name") == name;
    return count;
}

// Launches like launch(), but also waits for NotReady, as the controllers do.
Machine launch_patiently(Lab& lab, MachineSpec& spec) {
    for (int calls = 0; calls < 200; ++calls) {
        const auto result = lab.ensure(spec);
        if (const auto* failed = std::get_if<AttemptFailed>(&result))
            FAIL(failed->reason + ": " + failed->message);
        if (const auto* not_ready = std::get_if<NotReady>(&result)) {
            lab.wait(not_ready->retry_after);
            continue;
        }
        const auto& machine = std::get<Machine>(result);
        spec.record = machine.record;
        if (machine.state == MachineState::running) return machine;
        lab.wait(machine.retry_after);
    }
    FAIL("the machine never ran");
    return {};
}

}  // namespace

TEST_CASE("A restart after any step, with or without that step recorded, ends in one running machine") {
    for (const auto& death : test::deaths(10)) {
        INFO(death.str());
        Lab lab;
        auto spec = lab.machine(1);
        spec.boot_image = &lab.images;
        lab.launch_through(spec, death);
        CHECK(machines_of(lab, "workers-1") == 1);
        CHECK(lab.vm(spec)->running);
        CHECK(lab.simulator.cluster().view(*lab.vm(spec)).cdrom.starts_with("image of"));
        CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
        CHECK(lab.simulator.cluster().world.machines.empty());
    }
}

TEST_CASE("A lost answer to any change is read back, and nothing is made twice") {
    for (const auto* path : {"/nodes/[^/]+/qemu", "/nodes/[^/]+/qemu/\\d+/config",
                             "/nodes/[^/]+/qemu/\\d+/status/start", "/nodes/[^/]+/storage/local/upload"}) {
        for (const auto moment : {Moment::before_effect, Moment::after_effect}) {
            INFO(path << (moment == Moment::before_effect ? " before" : " after"));
            Lab lab;
            lab.simulator.faults().add("POST|PUT", path, lost(moment));
            auto spec = lab.machine(1);
            spec.boot_image = &lab.images;
            launch_patiently(lab, spec);
            CHECK(lab.simulator.cluster().world.machines.size() == 1);
            CHECK(lab.vm(spec)->running);
        }
    }
}

TEST_CASE("A proxy that gives up on a creation that goes on does not lead to a second machine") {
    Lab lab;
    RequestFault fault;
    fault.moment = Moment::after_effect;
    fault.status = 596;
    fault.reason = "Connection timed out";
    lab.simulator.faults().add("POST", "/nodes/[^/]+/qemu", fault);
    auto spec = lab.machine(1);
    launch_patiently(lab, spec);
    CHECK(lab.simulator.cluster().world.machines.size() == 1);
    CHECK(lab.count("POST", "/nodes/[^/]+/qemu") == 1);
}

TEST_CASE("A restart after any step of a removal ends in nothing left") {
    for (int crash_at = 0; crash_at < 6; ++crash_at) {
        INFO("crash after call " << crash_at);
        Lab lab;
        auto spec = lab.machine(1);
        spec.boot_image = &lab.images;
        lab.launch(spec);
        for (int call = 0;; ++call) {
            const auto result = lab.remove(spec);
            if (std::holds_alternative<Gone>(result)) break;
            const auto& busy = std::get<RemovalInProgress>(result);
            if (call == crash_at) {
                lab.restart();
            } else {
                spec.record.task = busy.task;
                lab.wait(busy.retry_after);
            }
            REQUIRE(call < 100);
        }
        CHECK(lab.simulator.cluster().world.machines.empty());
    }
}

TEST_CASE("A lost answer during a removal is read back") {
    for (const auto* path :
         {"/nodes/[^/]+/qemu/\\d+/status/shutdown", "/nodes/[^/]+/qemu/\\d+", "/nodes/[^/]+/storage/.*"}) {
        for (const auto moment : {Moment::before_effect, Moment::after_effect}) {
            INFO(path << (moment == Moment::before_effect ? " before" : " after"));
            Lab lab;
            auto spec = lab.machine(1);
            spec.boot_image = &lab.images;
            lab.launch(spec);
            lab.simulator.faults().add("POST|DELETE", path, lost(moment));
            CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
            CHECK(lab.simulator.cluster().world.machines.empty());
        }
    }
}

TEST_CASE("A machine that was made but never started is removed like any other") {
    for (int steps = 2; steps < 6; ++steps) {
        INFO("after step " << steps);
        Lab lab;
        auto spec = lab.machine(1);
        spec.boot_image = &lab.images;
        for (int i = 0; i < steps; ++i) lab.wait(lab.step(spec).retry_after);
        lab.restart();
        CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
        CHECK(lab.simulator.cluster().world.machines.empty());
        for (const auto& [host, volumes] : lab.simulator.cluster().world.storages.at("local").volumes) {
            CHECK(volumes.empty());
        }
    }
}
