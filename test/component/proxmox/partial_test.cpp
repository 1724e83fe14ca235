// Proxmox writes the options of a change one by one, in its own order. What was written stays when the next
// option fails. This must not lose a machine, nor keep its claim waiting for ever.
#include "providers/errors.hpp"
#include "providers/launch.hpp"
#include "test/component/proxmox/template_world.hpp"

using namespace providers;
using Catch::Contains;
using test::Lab;

namespace {

using namespace std::chrono_literals;

constexpr int kMostOptions = 16;
const proxmox_simulator::RequestFault kNoQuorum{
    .status = 500,
    .reason = "unable to open file '/etc/pve/nodes/alfaromeo/qemu-server/1.conf.tmp.1' - Permission denied"};
const proxmox_simulator::RequestFault kDaemonKilled{.status = 596, .reason = "Broken pipe"};

// Goes on after temporary failures until the machine runs, as a controller does.
void insist(Lab& lab, MachineSpec& spec) {
    for (int calls = 0; calls < 200; ++calls) {
        const auto result = lab.ensure(spec);
        auto pause = base::Duration(3s);
        if (const auto* machine = std::get_if<Machine>(&result)) {
            spec.record = machine->record;
            if (machine->state == MachineState::running) return;
            pause = machine->retry_after;
        } else if (const auto* not_ready = std::get_if<NotReady>(&result)) {
            pause = not_ready->retry_after;
        } else if (const auto* failed = std::get_if<AttemptFailed>(&result)) {
            FAIL(failed->reason + ": " + failed->message);
        }
        lab.wait(pause);
    }
    FAIL("the machine never ran");
}

// Calls ensure until a change of the configuration was refused.
void ensure_until_refused(Lab& lab, MachineSpec& spec) {
    for (int calls = 0; calls < 200; ++calls) {
        const auto result = lab.ensure(spec);
        const auto* machine = std::get_if<Machine>(&result);
        if (!machine) return;
        spec.record = machine->record;
        lab.wait(machine->retry_after);
    }
    FAIL("no change was refused");
}

void check_finished(Lab& lab, const MachineSpec& spec) {
    const auto* vm = lab.vm(spec);
    REQUIRE(vm);
    CHECK(vm->running);
    CHECK(vm->pending.empty());
    CHECK(vm->config.at("tags").find("kubenodesmith") != std::string::npos);
    CHECK(vm->config.at("smbios1").find(spec.identity.system_uuid) != std::string::npos);
    CHECK(vm->config.at("description").find("unfinished") == std::string::npos);
    const auto found = lab.run(lab.provider->get(spec.identity, spec.record));
    REQUIRE(found);
    CHECK(found->state == MachineState::running);
}

}  // namespace

TEST_CASE("A clone whose configuration was written in part is completed") {
    for (const auto& fault : {kNoQuorum, kDaemonKilled}) {
        for (int written = 0; written < kMostOptions; ++written) {
            INFO(fault.reason << " after " << written);
            auto lab = std::make_unique<Lab>(test::world_with_template("local"));
            test::use_template(*lab, test::named("debian"));
            auto spec = lab->machine(1);
            lab->simulator.faults().add_option("1.*", ".*", fault, 1, written);
            insist(*lab, spec);
            check_finished(*lab, spec);
        }
    }
}

TEST_CASE("A clone whose configuration was written in part is removed with its claim") {
    for (int written = 0; written < kMostOptions; ++written) {
        INFO(written);
        Lab lab(test::world_with_template("local"));
        test::use_template(lab, test::named("debian"));
        auto spec = lab.machine(1);
        lab.simulator.faults().add_option("1.*", ".*", kNoQuorum, 1, written);
        for (int calls = 0; calls < 20; ++calls) {
            const auto result = lab.ensure(spec);
            const auto* machine = std::get_if<Machine>(&result);
            if (!machine || machine->state == MachineState::running) break;
            spec.record = machine->record;
            lab.wait(machine->retry_after);
        }
        REQUIRE(lab.vm(spec));
        const bool is_restarted = written % 2 == 1;
        if (is_restarted) lab.restart();
        CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
        CHECK_FALSE(lab.vm(spec));
    }
}

TEST_CASE("A boot image that a change left in a drive is not put into a second one") {
    Lab lab(test::world_with_template("local"));
    test::use_template(lab, test::named("debian"));
    lab.config.spec.proxmox->cloudInit.emplace();
    lab.restart();
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    // The options after the drive fail.
    lab.simulator.faults().add_option("1.*", "description", kNoQuorum);
    insist(lab, spec);
    check_finished(lab, spec);
    int drives = 0;
    for (const auto& [option, value] : lab.vm(spec)->config)
        drives += value.find(":iso/kubenodesmith-") != std::string::npos ? 1 : 0;
    CHECK(drives == 1);
}

TEST_CASE(
    "Tags that the datacenter's options forbid are named, and neither leak a machine nor block its claim") {
    Lab lab(test::world_with_template("local"));
    test::use_template(lab, test::named("debian"));
    auto& options = lab.simulator.cluster().world.options;
    options["user-tag-access"] = "user-allow=none";
    auto spec = lab.machine(1);
    ensure_until_refused(lab, spec);
    const auto result = lab.ensure(spec);
    REQUIRE(std::holds_alternative<NotReady>(result));
    CHECK_THAT(std::get<NotReady>(result).message, Contains("/, Sys.Modify for modifying tag '"));
    SECTION("the option is changed") {
        options.erase("user-tag-access");
        insist(lab, spec);
        check_finished(lab, spec);
    }
    SECTION("the claim goes") {
        CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
        CHECK_FALSE(lab.vm(spec));
    }
}

TEST_CASE("A machine whose release was written in part is nobody's any more") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.cluster().world.options["user-tag-access"] = "user-allow=none";
    lab.vm(spec)->config["tags"] = "kubenodesmith-managed";
    CHECK_THROWS_WITH(lab.run(lab.provider->release(spec.identity, spec.record)), Contains("modifying tag"));
    lab.wait(std::chrono::seconds{5});
    CHECK(lab.run(lab.provider->release(spec.identity, spec.record)));
    CHECK(lab.run(lab.provider->list()).empty());
    CHECK_FALSE(lab.vm(spec)->config.contains("description"));
    CHECK(lab.vm(spec)->running);
}

TEST_CASE("Blank machines are made with rights on the resource pool alone") {
    Lab lab(test::with_pool_rights_alone());
    test::use_pool(lab);
    auto spec = lab.machine(1);
    const bool has_image = GENERATE(false, true);
    if (has_image) spec.boot_image = &lab.images;
    INFO(has_image);
    lab.launch(spec);
    check_finished(lab, spec);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK_FALSE(lab.vm(spec));
}

TEST_CASE("A blank machine without tags is finished or removed, whenever the operator dies") {
    for (const auto& death : test::deaths(6)) {
        INFO(death.str());
        Lab lab(test::with_pool_rights_alone());
        test::use_pool(lab);
        auto spec = lab.machine(1);
        lab.launch_through(spec, death);
        check_finished(lab, spec);
        CHECK(lab.simulator.cluster().world.machines.size() == 1);
    }
}

TEST_CASE("A lock that a creation left is not taken for that of the next machine with the same VMID") {
    Lab lab;
    auto first = lab.machine(1);
    lab.place(first);
    lab.simulator.faults().add_task("qmcreate", ".*", {proxmox_simulator::TaskTrouble::die, ""});
    lab.step(first);
    lab.wait(10s);
    auto result = lab.ensure(first);
    for (int i = 0; i < 20 && !std::holds_alternative<AttemptFailed>(result); ++i) {
        lab.wait(5s);
        result = lab.ensure(first);
    }
    REQUIRE(std::holds_alternative<AttemptFailed>(result));
    CHECK_THAT(std::get<AttemptFailed>(result).message, Contains("qm unlock " + first.record.machine_id));
    lab.simulator.cluster().world.machines.erase(std::stoi(first.record.machine_id));

    // The task is not recorded, so only the lock is visible at first.
    lab.simulator.cluster().world.durations.tasks["qmcreate"] = 20s;
    auto second = lab.machine(2);
    lab.place(second);
    second.record.host = first.record.host;
    second.record.machine_id = first.record.machine_id;
    const auto placed = second.record;
    lab.step(second);
    second.record = placed;
    lab.wait(2s);
    CHECK(std::holds_alternative<Machine>(lab.ensure(second)));
}

TEST_CASE("A creation that died before its VM could be seen is told of, and ends once it was cleared away") {
    const bool is_recorded = GENERATE(false, true);
    INFO(is_recorded);
    Lab lab(test::with_pool_rights_alone());
    test::use_pool(lab);
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.simulator.faults().add_task("qmcreate", ".*", {proxmox_simulator::TaskTrouble::die, ""});
    const auto placed = spec.record;
    lab.step(spec);
    lab.wait(10s);
    if (!is_recorded) spec.record = placed;
    lab.restart();
    const auto result = lab.ensure(spec);
    REQUIRE(std::holds_alternative<AttemptFailed>(result));
    CHECK(std::get<AttemptFailed>(result).reason == "CreateFailed");
    const auto name = "VM " + spec.record.machine_id + " on " + spec.record.host + " ";
    CHECK_THAT(std::get<AttemptFailed>(result).message, Catch::StartsWith(name) && Contains("qm unlock"));
    const auto removal = lab.destroy(spec);
    REQUIRE(std::holds_alternative<RemovalBlocked>(removal));
    CHECK(std::get<RemovalBlocked>(removal).reason == "Locked");
    CHECK_THAT(std::get<RemovalBlocked>(removal).message, Catch::StartsWith(name));
    lab.simulator.cluster().world.machines.erase(std::stoi(spec.record.machine_id));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE(
    "A creation that died before its VM could be seen is found without any claim, until it is cleared away") {
    Lab lab(test::with_pool_rights_alone());
    test::use_pool(lab);
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.simulator.faults().add_task("qmcreate", ".*", {proxmox_simulator::TaskTrouble::die, ""});
    lab.step(spec);
    lab.wait(10s);
    lab.restart();
    const auto found = test::leftovers(lab);
    REQUIRE(found.size() == 1);
    CHECK(found[0].is_certain);
    CHECK(found[0].record.host == spec.record.host);
    CHECK(found[0].record.machine_id == spec.record.machine_id);
    CHECK_THAT(found[0].message, Contains("qm unlock " + spec.record.machine_id));
    lab.simulator.cluster().world.machines.erase(std::stoi(spec.record.machine_id));
    CHECK(test::leftovers(lab).empty());
}

TEST_CASE("A creation is known while it runs, before its VM can be seen") {
    Lab lab(test::with_pool_rights_alone());
    test::use_pool(lab);
    lab.simulator.cluster().world.durations.tasks["qmcreate"] = 10min;
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.step(spec);
    const auto made = lab.run(lab.provider->capabilities().leftover_finder->under_way());
    REQUIRE(made.size() == 1);
    CHECK(made[0].record.machine_id == spec.record.machine_id);
    CHECK(made[0].record.task == spec.record.task);
    CHECK(lab.run(lab.provider->list()).empty());
    // Its task is therefore the only trace of the machine.
    CHECK_THROWS_AS(lab.run(lab.provider->get(spec.identity, spec.record)), ProviderError);
}

TEST_CASE("What failed out of sight and left nothing, or was followed by a machine of ours, is no leftover") {
    Lab lab(test::with_pool_rights_alone());
    test::use_pool(lab);
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto trouble =
        GENERATE(proxmox_simulator::TaskTrouble::fail_at_once, proxmox_simulator::TaskTrouble::die);
    const bool was_left = trouble == proxmox_simulator::TaskTrouble::die;
    lab.simulator.faults().add_task("qmcreate", ".*", {trouble, "no space left"});
    lab.step(spec);
    lab.wait(10s);
    if (was_left) {
        lab.simulator.cluster().world.machines.erase(std::stoi(spec.record.machine_id));
        lab.launch(spec);
        // Somebody with separate rights removed it from the pool.
        lab.simulator.cluster().world.pools["kubernetes"].vms.clear();
    } else {
        lab.plant(std::stoi(spec.record.machine_id), spec.record.host, {{"name", "of-somebody-else"}});
    }
    CHECK(test::leftovers(lab).empty());
}

TEST_CASE("A creation that lost the quorum before its VM could be seen is told of, too") {
    Lab lab(test::with_pool_rights_alone());
    test::use_pool(lab);
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto first = spec.record.machine_id;
    // The error text need not name the quorum.
    const bool has_other_cause = GENERATE(false, true);
    const std::string cause = "cfs-lock 'storage-shared' error: got lock request timeout";
    if (has_other_cause)
        lab.simulator.faults().add_task("qmcreate", ".*",
                                        {proxmox_simulator::TaskTrouble::fail_at_once, cause});
    lab.step(spec);
    lab.simulator.cluster().is_partitioned = true;
    const auto calm = lab.clock.now() + 3min;
    std::optional<AttemptFailed> failure;
    for (int calls = 0; calls < 200 && !failure; ++calls) {
        const auto result = lab.ensure(spec);
        if (const auto* failed = std::get_if<AttemptFailed>(&result)) failure = *failed;
        if (const auto* machine = std::get_if<Machine>(&result)) spec.record = machine->record;
        if (calls == 20) lab.restart();
        lab.wait(3s);
        if (lab.clock.now() > calm) lab.simulator.cluster().is_partitioned = false;
    }
    REQUIRE(failure);
    CHECK(failure->reason == "CreateFailed");
    CHECK_THAT(failure->message, Catch::StartsWith("VM " + first + " on ") && Contains("qm unlock"));
    const auto removal = lab.destroy(spec);
    REQUIRE(std::holds_alternative<RemovalBlocked>(removal));
    CHECK(std::get<RemovalBlocked>(removal).reason == "Locked");
    lab.simulator.cluster().world.machines.erase(std::stoi(first));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("A blank machine without tags is listed, so that it is found when its claim is gone") {
    Lab lab(test::with_pool_rights_alone());
    lab.config.spec.proxmox->vmIDRange.reset();
    test::use_pool(lab);
    auto spec = lab.machine(1);
    lab.simulator.faults().add_option(".*", "tags", kNoQuorum, 3);  // once for each endpoint
    ensure_until_refused(lab, spec);
    lab.wait(20s);
    CHECK(lab.run(lab.provider->check()).reason.empty());  // finds that the cluster has quorum again
    const auto machines = lab.run(lab.provider->list());
    REQUIRE(machines.size() == 1);
    CHECK(machines.front().identity.claim_uid == spec.identity.claim_uid);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}
