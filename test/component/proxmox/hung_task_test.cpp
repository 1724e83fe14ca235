// Tests tasks that do not end, and the remains of tasks that were ended half-way.
#include <set>

#include "providers/capabilities.hpp"
#include "providers/provider.hpp"
#include "test/component/proxmox/template_world.hpp"

using namespace providers;
using Catch::Contains;
using proxmox_simulator::TaskTrouble;
using test::Lab;
using test::leftovers;
using namespace std::chrono_literals;

namespace {

// Launches until a task of that type is on record.
void launch_until(Lab& lab, MachineSpec& spec, const std::string& type) {
    for (int calls = 0; calls < 100 && spec.record.task.find(":" + type + ":") == std::string::npos; ++calls)
        lab.wait(lab.step(spec).retry_after);
    REQUIRE(spec.record.task.find(":" + type + ":") != std::string::npos);
}

RemovalBlocked blocked(Lab& lab, MachineSpec& spec) {
    const auto result = lab.destroy(spec);
    const auto* why = std::get_if<RemovalBlocked>(&result);
    INFO("the machine is gone");
    REQUIRE(why);
    return *why;
}

std::size_t stops(Lab& lab) {
    return lab.count("DELETE", "/nodes/[^/]+/tasks/.*");
}

// Returns a machine whose creation hangs for as long as scaleUp.provisionTimeout.
MachineSpec overdue_creation(Lab& lab) {
    lab.simulator.faults().add_task("qmcreate", ".*", {TaskTrouble::hang, ""});
    auto spec = lab.machine(1);
    lab.place(spec);
    launch_until(lab, spec, "qmcreate");
    lab.wait(10min);
    return spec;
}

}  // namespace

TEST_CASE("A creation that hangs is stopped when its machine shall be gone, and leaves nothing") {
    Lab lab;
    auto spec = overdue_creation(lab);
    const auto begin = lab.clock.now();
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.clock.now() - begin < 1min);
    CHECK(stops(lab) == 1);
    CHECK_FALSE(lab.vm(spec));
    CHECK(leftovers(lab).empty());
}

TEST_CASE("A clone that hangs is stopped as soon as its pool gives machines up, not minutes later") {
    Lab lab(test::world_with_template("local"));
    test::use_template(lab, test::named("debian"));
    lab.config.spec.proxmox->nodeWhitelist = {"alfaromeo"};
    lab.restart();
    lab.simulator.faults().add_task("qmclone", ".*", {TaskTrouble::hang, ""});
    auto spec = lab.machine(1);
    lab.place(spec);
    launch_until(lab, spec, "qmclone");
    spec.record.patience = 20s;
    lab.ensure(spec);
    lab.wait(20s);
    const auto begin = lab.clock.now();
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.clock.now() - begin < 1min);
    CHECK(stops(lab) == 1);
}

TEST_CASE("A copy of the control plane does not stop the task that makes a machine of the original") {
    Lab lab;
    auto spec = overdue_creation(lab);
    RemovalHold hold{"another operator owns the same machines", true};
    lab.environment.why_not_destroy = [&](const std::string&) { return hold; };
    for (int i = 0; i < 20; ++i) {
        CHECK(std::holds_alternative<RemovalBlocked>(lab.remove(spec)));
        lab.wait(10s);
    }
    CHECK(stops(lab) == 0);
    hold = {};
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(stops(lab) == 1);
}

TEST_CASE("A creation that is quick enough is not stopped when its machine shall be gone") {
    Lab lab;
    lab.simulator.cluster().world.durations.tasks["qmcreate"] = 90s;
    auto spec = lab.machine(1);
    lab.place(spec);
    launch_until(lab, spec, "qmcreate");
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(stops(lab) == 0);
    CHECK_FALSE(lab.vm(spec));
}

TEST_CASE("Whatever task hangs, the machine is gone in the end") {
    const auto type = GENERATE("qmcreate", "imgcopy", "qmstart", "qmshutdown", "qmstop");
    INFO(type);
    Lab lab;
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.simulator.faults().add_task(type, ".*", {TaskTrouble::hang, ""});
    lab.place(spec);
    const std::set<std::string> at_removal{"qmshutdown", "qmstop"};
    if (at_removal.contains(type))
        lab.launch(spec);
    else
        launch_until(lab, spec, type);
    if (std::string(type) == "qmstop")
        lab.simulator.faults().add_task("qmshutdown", ".*", {TaskTrouble::fail_at_once, "no answer"});
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(stops(lab) >= 1);
    CHECK_FALSE(lab.vm(spec));
}

// The disk is open elsewhere: lvremove and zfs destroy fail until it is closed.
TEST_CASE("A machine that cannot be destroyed for hours is tried after growing pauses, and why is said") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.launch(spec);
    const std::string cause =
        "lvremove 'pve/vm-100-disk-0' error: Logical volume contains a filesystem in use";
    lab.simulator.faults().add_task("qmdestroy", ".*", {TaskTrouble::fail_at_once, cause}, 1000);
    const auto end = lab.clock.now() + 1h;
    std::set<std::string> said;
    while (lab.clock.now() < end) {
        const auto result = lab.run(lab.provider->remove(spec.identity, spec.record, {}));
        const auto* busy = std::get_if<RemovalInProgress>(&result);
        REQUIRE(busy);
        spec.record.task = busy->task;
        said.insert(busy->message);
        lab.wait(busy->retry_after);
    }
    CHECK(said.contains("task qmdestroy failed: " + cause));
    const auto tried = lab.count("DELETE", "/nodes/[^/]+/qemu/[0-9]+");
    CHECK(tried >= 40);
    CHECK(tried <= 70);
    lab.simulator.faults().clear();
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("A removal whose tasks fail out of sight, as the answers are lost, is tried after growing pauses") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.launch(spec);
    lab.simulator.faults().add_task("qmdestroy", ".*", {TaskTrouble::fail_at_once, "no"}, 1000);
    lab.simulator.faults().add("GET", ".*/tasks/.*/status", {.lose_connection = true}, 1000);
    const auto end = lab.clock.now() + 1h;
    while (lab.clock.now() < end) {
        const auto result = lab.run(lab.provider->remove(spec.identity, spec.record, {}));
        const auto* busy = std::get_if<RemovalInProgress>(&result);
        REQUIRE(busy);
        spec.record.task = busy->task;
        lab.wait(busy->retry_after);
    }
    const auto tried = lab.count("DELETE", "/nodes/[^/]+/qemu/[0-9]+");
    CHECK(tried >= 40);
    CHECK(tried <= 70);
    lab.simulator.faults().clear();
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("A restart of the operator begins the waiting for a hung task anew, and does not forget it") {
    Lab lab;
    auto spec = overdue_creation(lab);
    lab.restart();
    const auto begin = lab.clock.now();
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.clock.now() - begin >= 2min);
    CHECK(stops(lab) == 1);
}

TEST_CASE("A task that nothing ends is said so, and told again from time to time") {
    Lab lab;
    lab.simulator.faults().add_task("qmcreate", ".*", {TaskTrouble::hang_in_kernel, ""});
    auto spec = lab.machine(1);
    lab.place(spec);
    launch_until(lab, spec, "qmcreate");
    const auto why = blocked(lab, spec);
    CHECK(why.reason == "TaskHangs");
    CHECK_THAT(why.message, Contains("task qmcreate") && Contains(spec.record.host) && Contains("storage"));
    CHECK(stops(lab) == 1);
    for (int i = 0; i < 20; ++i) {
        blocked(lab, spec);
        lab.wait(30s);
    }
    CHECK(stops(lab) >= 4);
    CHECK(stops(lab) <= 7);
    // The task ends with its host, and the lock stays.
    lab.simulator.cluster().power_off_host(spec.record.host);
    lab.wait(1min);
    CHECK(blocked(lab, spec).reason == "HostUnreachable");
    lab.simulator.cluster().power_on_host(spec.record.host);
    lab.wait(1min);
    CHECK(blocked(lab, spec).reason == "Locked");
}

TEST_CASE("A creation that had to be killed leaves a locked VM, which its claim keeps on record") {
    Lab lab;
    lab.simulator.faults().add_task("qmcreate", ".*", {TaskTrouble::hang_deaf, ""});
    auto spec = lab.machine(1);
    lab.place(spec);
    launch_until(lab, spec, "qmcreate");
    const auto task = spec.record.task;
    lab.wait(10min);
    const auto why = blocked(lab, spec);
    CHECK(why.reason == "Locked");
    CHECK_THAT(why.message, Contains("by a task of the operator that died") &&
                                Contains("qm unlock " + spec.record.machine_id + " && qm destroy " +
                                         spec.record.machine_id));
    CHECK(spec.record.task == task);
    REQUIRE(lab.vm(spec));
    CHECK(lab.vm(spec)->config.at("lock") == "create");
    lab.simulator.cluster().world.machines.erase(std::stoi(spec.record.machine_id));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("A creation of ours that died is not left behind for another ID") {
    Lab lab;
    lab.simulator.faults().add_task("qmcreate", ".*", {TaskTrouble::die, ""});
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto id = spec.record.machine_id;
    std::optional<AttemptFailed> failed;
    for (int calls = 0; calls < 100 && !failed; ++calls) {
        const auto result = lab.ensure(spec);
        if (const auto* end = std::get_if<AttemptFailed>(&result)) {
            failed = *end;
            continue;
        }
        const auto& machine = std::get<Machine>(result);
        spec.record = machine.record;
        CHECK(spec.record.machine_id == id);
        lab.wait(machine.retry_after);
    }
    REQUIRE(failed);
    CHECK(failed->reason == "CreateFailed");
    CHECK(failed->avoid_host);
    CHECK_THAT(failed->message, Contains("qm unlock " + id + " && qm destroy " + id));
    CHECK(blocked(lab, spec).reason == "Locked");
}

TEST_CASE("What a creation of ours left half made is found without any claim") {
    Lab lab;
    lab.simulator.faults().add_task("qmcreate", ".*", {TaskTrouble::die, ""});
    auto spec = lab.machine(1);
    lab.place(spec);
    launch_until(lab, spec, "qmcreate");
    lab.restart();
    const auto found = leftovers(lab);
    REQUIRE(found.size() == 1);
    CHECK(found[0].record.host == spec.record.host);
    CHECK(found[0].record.machine_id == spec.record.machine_id);
    CHECK_THAT(found[0].message, Contains("qm unlock"));
}

TEST_CASE("What a destruction of ours left is found as well") {
    const auto trouble = GENERATE(TaskTrouble::die, TaskTrouble::hang, TaskTrouble::hang_deaf);
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.faults().add_task("qmdestroy", ".*", {trouble, ""});
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    REQUIRE(lab.vm(spec));
    const auto found = leftovers(lab);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0].message, Contains("(destroyed)"));
}

TEST_CASE("What is being made, is marked, or was begun by somebody else is no leftover of ours") {
    Lab lab;
    SECTION("being made") {
        lab.simulator.cluster().world.durations.tasks["qmcreate"] = 10min;
        auto spec = lab.machine(1);
        lab.place(spec);
        launch_until(lab, spec, "qmcreate");
    }
    SECTION("marked") {
        auto spec = lab.machine(1);
        lab.launch(spec);
        lab.vm(spec)->config["lock"] = "create";
    }
    SECTION("somebody else's") {
        lab.config.spec.proxmox->vmIDRange.reset();
        lab.restart();
        lab.plant(4711, "alfaromeo", {{"lock", "create"}});
    }
    CHECK(leftovers(lab).empty());
}

TEST_CASE("A clone that was not configured is found by its name where nothing else shows it") {
    Lab lab(test::world_with_template("local"));
    test::use_template(lab, test::named("debian"));
    lab.config.spec.proxmox->vmIDRange.reset();
    lab.restart();
    auto spec = lab.machine(1);
    lab.place(spec);
    launch_until(lab, spec, "qmclone");
    lab.plant(4711, spec.record.host, {{"name", spec.name}, {"description", "somebody's"}});
    lab.restart();
    lab.wait(1min);
    auto* finder = lab.provider->capabilities().leftover_finder;
    CHECK(lab.run(lab.provider->list()).empty());
    CHECK(lab.run(finder->unfinished("another")).empty());
    const auto found = lab.run(finder->unfinished(spec.name));
    REQUIRE(found.size() == 1);
    CHECK(found[0].is_unfinished);
    CHECK(found[0].record.machine_id == spec.record.machine_id);
    CHECK(found[0].identity.claim_uid == spec.identity.claim_uid);
}

TEST_CASE("What our tasks are making is known while no list shows it") {
    const auto type = GENERATE(as<std::string>(), "qmcreate", "qmclone");
    Lab lab(test::world_with_template("local"));
    if (type == "qmclone") test::use_template(lab, test::named("debian"));
    lab.config.spec.proxmox->nodeWhitelist = {"alfaromeo"};
    lab.restart();
    lab.simulator.cluster().world.durations.tasks[type] = 10min;
    auto spec = lab.machine(1);
    lab.place(spec);
    launch_until(lab, spec, type);
    lab.restart();
    auto* finder = lab.provider->capabilities().leftover_finder;
    const auto made = lab.run(finder->under_way());
    REQUIRE(made.size() == 1);
    CHECK(made[0].record.host == spec.record.host);
    CHECK(made[0].record.machine_id == (type == "qmclone" ? "" : spec.record.machine_id));
    CHECK(made[0].record.task == spec.record.task);
    CHECK_THAT(made[0].message, Contains("stop it in the task viewer of " + spec.record.host));
    CHECK(lab.run(lab.provider->list()).empty());
    lab.wait(10min);
    CHECK(lab.run(finder->under_way()).empty());
    CHECK(lab.run(lab.provider->list()).size() == 1);
}

TEST_CASE("A clone of somebody else's on a host without a template hides nothing that is left") {
    const bool is_stranger_first = GENERATE(false, true);
    Lab lab(test::world_with_template("shared"));
    auto wish = test::named("debian");
    wish.localStorage = true;
    test::use_template(lab, wish);
    lab.config.spec.proxmox->vmIDRange.reset();
    lab.restart();
    lab.plant(is_stranger_first ? 4711 : 4713, "porsche", {{"lock", "clone"}});
    CHECK(leftovers(lab).empty());
    auto& range = lab.config.spec.proxmox->vmIDRange.emplace();
    range.lower = 4712;
    range.upper = 4712;
    lab.restart();
    lab.plant(4712, "alfaromeo", {{"lock", "clone"}});
    const auto found = leftovers(lab);
    REQUIRE(found.size() == 1);
    CHECK(found.front().record.machine_id == "4712");
}

TEST_CASE("A boot image is discarded although the task that deletes it hangs") {
    Lab lab;
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.launch(spec);
    lab.simulator.faults().add_task("imgdel", ".*", {TaskTrouble::hang, ""});
    bool is_done = false;
    for (int calls = 0; calls < 1000 && !is_done; ++calls) {
        is_done = lab.run(lab.provider->discard_boot_image(spec.identity, spec.record));
        lab.wait(2s);
    }
    CHECK(is_done);
    CHECK(stops(lab) == 1);
}

TEST_CASE("What waits for a lock that a hung task holds is tried with growing pauses") {
    static constexpr const char* kHeld =
        "can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout";
    Lab lab;
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    const auto hold = [&](const std::string& type) {
        for (int i = 0; i < 100; ++i)
            lab.simulator.faults().add_task(type, ".*", {TaskTrouble::fail_at_once, kHeld});
    };
    const auto until = lab.clock.now() + 10min;
    SECTION("a creation") {
        hold("qmcreate");
        while (lab.clock.now() < until) lab.wait(lab.step(spec).retry_after);
        CHECK(lab.count("POST", "/nodes/[^/]+/qemu") < 16);
    }
    SECTION("a boot image that is not needed any more") {
        lab.launch(spec);
        hold("imgdel");
        while (lab.clock.now() < until) {
            CHECK_FALSE(lab.run(lab.provider->discard_boot_image(spec.identity, spec.record)));
            lab.wait(2s);
        }
        CHECK(lab.count("DELETE", "/nodes/[^/]+/storage/.*") < 16);
    }
    SECTION("a destruction") {
        lab.launch(spec);
        hold("qmdestroy");
        while (lab.clock.now() < until) {
            const auto result = lab.remove(spec);
            const auto* busy = std::get_if<RemovalInProgress>(&result);
            REQUIRE(busy);
            spec.record.task = busy->task;
            lab.wait(busy->retry_after);
        }
        CHECK(lab.count("DELETE", "/nodes/[^/]+/qemu/[0-9]+") < 16);
    }
}

TEST_CASE(
    "A change that is refused again and again after a success of long ago is tried with growing pauses") {
    Lab lab(test::world_with_template("shared"));
    test::use_template(lab, test::named("debian"));
    lab.simulator.faults().add(
        "PUT", ".*/config",
        {.reason = "unable to open file '/etc/pve/nodes/x/qemu-server/1.conf.tmp.1' - Permission denied"},
        1000);
    auto spec = lab.machine(1);
    lab.place(spec);
    launch_until(lab, spec, "qmclone");
    const auto until = lab.clock.now() + 10min;
    while (lab.clock.now() < until) {
        const auto result = lab.ensure(spec);
        const auto* waits = std::get_if<NotReady>(&result);
        lab.wait(waits ? waits->retry_after : 3s);
    }
    CHECK(lab.count("PUT", ".*/config") > 3);
    CHECK(lab.count("PUT", ".*/config") <= 16);
}

TEST_CASE(
    "A machine whose switching off hangs is not told again and again, and the task is ended in its time") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.faults().add_task("qmstop", ".*", {TaskTrouble::hang, ""});
    bool is_off = false;
    for (int calls = 0; calls < 1000 && !is_off; ++calls) {
        is_off = lab.run(lab.provider->switch_power(spec.identity, spec.record, Power::off, {}));
        lab.wait(3s);
    }
    CHECK(is_off);
    CHECK(stops(lab) == 1);
    CHECK(lab.count("POST", ".*/status/stop") == 2);
}
