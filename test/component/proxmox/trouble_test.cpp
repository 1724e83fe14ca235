// Tests what can go wrong until a machine runs, and the messages to the caller.
#include <algorithm>

#include "providers/errors.hpp"
#include "test/component/proxmox/template_world.hpp"

using namespace providers;
using namespace std::chrono_literals;
using Catch::Contains;
using proxmox_simulator::TaskFault;
using proxmox_simulator::TaskTrouble;
using test::Lab;

namespace {

// Calls ensure until it gives up.
AttemptFailed failure_of(Lab& lab, MachineSpec& spec) {
    for (int calls = 0; calls < 100; ++calls) {
        const auto result = lab.ensure(spec);
        if (const auto* failed = std::get_if<AttemptFailed>(&result)) return *failed;
        const auto& machine = std::get<Machine>(result);
        spec.record = machine.record;
        lab.wait(machine.retry_after);
    }
    FAIL("ensure never gave up");
    return {};
}

TaskFault fault(TaskTrouble trouble, std::string text = "no space left on device") {
    return {trouble, std::move(text)};
}

// Returns what finally blocks the removal.
RemovalBlocked blocked(Lab& lab, MachineSpec& spec) {
    const auto result = lab.destroy(spec);
    const auto* why = std::get_if<RemovalBlocked>(&result);
    INFO("the machine is gone");
    REQUIRE(why);
    return *why;
}

// Returns templates whose full clones need 8 GiB on the host's own storage.
proxmox_simulator::World local_templates() {
    return proxmox_simulator::world_from_json(boost::json::parse(R"({"machines": [
        {"vmid": 9000, "node": "alfaromeo", "config": {"name": "debian", "template": "1", "scsi0": "local:8"}},
        {"vmid": 9001, "node": "porsche", "config": {"name": "debian", "template": "1", "scsi0": "local:8"}},
        {"vmid": 9002, "node": "zagato", "config": {"name": "debian", "template": "1", "scsi0": "local:8"}}]})"));
}

void use_local_templates(Lab& lab) {
    auto wish = test::named("debian");
    wish.localStorage = true;
    wish.cloneMode = api::v1alpha1::CloneMode::Full;
    test::use_template(lab, wish);
}

// Counts the volumes that are not a template's.
std::size_t volumes_of_machines(Lab& lab) {
    std::size_t count = 0;
    for (const auto& [host, volumes] : lab.simulator.cluster().world.storages.at("local").volumes) {
        for (const auto& [name, volume] : volumes) count += name.find("-900") == std::string::npos;
    }
    return count;
}

}  // namespace

TEST_CASE("An ID taken by somebody else in the meantime is left to them") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto taken = spec.record.machine_id;
    lab.plant(std::stoi(taken), spec.record.host,
              {{"name", "faster"}, {"smbios1", "uuid=99999999-0000-4000-8000-000000000000"}});
    const auto placed_anew = lab.ensure(spec);
    REQUIRE(std::holds_alternative<Machine>(placed_anew));
    CHECK_THAT(std::get<Machine>(placed_anew).message, Catch::StartsWith("VMID " + taken + " is taken: "));
    lab.launch(spec);
    CHECK(spec.record.machine_id != taken);
    CHECK(lab.vm(taken)->config.at("name") == "faster");
    CHECK_FALSE(lab.vm(taken)->running);
    CHECK(lab.vm(spec)->config.at("name") == "workers-1");
}

TEST_CASE("An ID taken on another host in the meantime is left to them") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto taken = spec.record.machine_id;
    const std::string other = spec.record.host == "zagato" ? "porsche" : "zagato";
    lab.plant(std::stoi(taken), other, {{"name", "faster"}});
    lab.launch(spec);
    CHECK(spec.record.machine_id != taken);
    CHECK(lab.vm(taken)->config.at("name") == "faster");
}

TEST_CASE("A second VM of one name is not made, as both would be the same Node") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.plant(4711, "zagato", {{"name", spec.name}});
    lab.wait(15s);
    SECTION("while the first one can run") {
        const auto result = lab.run(lab.provider->ensure(spec));
        const auto* refused = std::get_if<NameTaken>(&result);
        REQUIRE(refused);
        CHECK_THAT(refused->message, Contains("VM 4711 on zagato has the name " + spec.name));
        lab.simulator.cluster().world.machines.erase(4711);
        lab.launch(spec);
    }
    SECTION("unless the host of the first one is down") {
        auto& hosts = lab.simulator.cluster().world.hosts;
        auto& host = *std::ranges::find(hosts, "zagato", &proxmox_simulator::Host::name);
        host.powered_on = false;
        host.powered_off_at = lab.clock.now();
        lab.wait(2min);
        lab.launch(spec);
    }
}

TEST_CASE("A VM that somebody is creating under our ID is waited for, then left to them") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto taken = spec.record.machine_id;
    lab.plant(std::stoi(taken), spec.record.host, {{"lock", "create"}});
    const auto begun = lab.clock.now();
    lab.launch(spec);
    CHECK(lab.clock.now() - begun >= std::chrono::seconds{30});
    CHECK(spec.record.machine_id != taken);
    CHECK(lab.vm(taken)->config.at("lock") == "create");
}

TEST_CASE("A creation that fails ends the attempt with its reason and leaves nothing") {
    Lab lab;
    lab.simulator.cluster().world.storages["local"].total = 1;
    auto spec = lab.machine(1);
    const auto failed = failure_of(lab, spec);
    CHECK(failed.reason == "CreateFailed");
    CHECK(failed.avoid_host);
    CHECK_THAT(failed.message, Contains("creating the VM failed: unable to create VM"));
    // Only the task's log contains this text.
    CHECK_THAT(failed.message, Contains("No space left on device"));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.simulator.cluster().world.machines.empty());
}

TEST_CASE("A start that fails says why QEMU did not start") {
    Lab lab;
    lab.simulator.faults().add_task("qmstart", ".*",
                                    {TaskTrouble::fail_at_once, "start failed: QEMU exited with code 1",
                                     "kvm: cannot set up guest memory 'pc.ram': Cannot allocate memory"});
    auto spec = lab.machine(1);
    const auto failed = failure_of(lab, spec);
    CHECK(failed.reason == "StartFailed");
    CHECK(failed.avoid_host);
    CHECK_THAT(failed.message, Contains("QEMU exited with code 1: kvm: cannot set up guest memory"));
}

TEST_CASE("What passes is tried again, also where only the task's log shows that it does") {
    Lab lab;
    lab.simulator.faults().add_task("qmstart", ".*",
                                    {TaskTrouble::fail_at_once, "start failed: exit code 1",
                                     "can't lock file '/var/lock/qemu-server/lock-1.conf' - got timeout"});
    auto spec = lab.machine(1);
    lab.launch(spec);
    CHECK(lab.count("POST", "/nodes/[a-z]+/qemu/[0-9]+/status/start") == 2);
}

TEST_CASE("Credentials in a task's log reach no message") {
    Lab lab;
    lab.simulator.faults().add_task("qmstart", ".*",
                                    {TaskTrouble::fail_at_once, "exit code 1",
                                     std::string("kvm: error ") + proxmox_simulator::kDefaultTokenSecret});
    auto spec = lab.machine(1);
    const auto failed = failure_of(lab, spec);
    CHECK_THAT(failed.message, Contains("kvm: error ***"));
}

TEST_CASE("A VM that the token may no longer see does not hide the others") {
    Lab lab;
    std::vector<MachineSpec> specs{lab.machine(1), lab.machine(2)};
    for (auto& spec : specs) lab.launch(spec);
    lab.wait(10s);
    lab.restart();
    lab.simulator.faults().add(
        "GET", ".*/qemu/" + specs.front().record.machine_id + "/config",
        {proxmox_simulator::Moment::before_effect,
         false,
         403,
         "Permission check failed (/vms/" + specs.front().record.machine_id + ", VM.Audit)",
         {}});
    const auto machines = lab.run(lab.provider->list());
    REQUIRE(machines.size() == 2);
    CHECK(std::ranges::count(machines, specs.back().identity.system_uuid,
                             [](const Machine& machine) { return machine.identity.system_uuid; }) == 1);
}

TEST_CASE(
    "What is half made under a machine's ID, by whom nobody knows, is left alone, and another ID is taken") {
    Lab lab;
    lab.simulator.faults().add_task("qmcreate", ".*", fault(TaskTrouble::die));
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto stuck = spec.record.machine_id;
    lab.step(spec);
    lab.wait(std::chrono::seconds{5});
    spec.record.task.clear();  // the operator died before it recorded the task
    lab.restart();
    const auto machine = lab.launch(spec);
    CHECK(machine.record.machine_id != stuck);
    CHECK(lab.vm(stuck)->config.at("lock") == "create");
}

TEST_CASE("A start that fails ends the attempt, and the machine can be removed") {
    Lab lab;
    lab.simulator.faults().add_task("qmstart", ".*",
                                    fault(TaskTrouble::fail_at_once, "bridge 'vmbr7' does not exist"));
    auto spec = lab.machine(1);
    const auto failed = failure_of(lab, spec);
    CHECK(failed.reason == "StartFailed");
    CHECK_THAT(failed.message, Contains("vmbr7"));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.vm(spec) == nullptr);
}

TEST_CASE("A start whose exit status says it failed although the machine runs is looked into") {
    Lab lab;
    lab.simulator.faults().add_task("qmstart", ".*",
                                    fault(TaskTrouble::fail_at_end, "got timeout: unexpected status"));
    auto spec = lab.machine(1);
    lab.launch(spec);
    CHECK(lab.vm(spec)->running);
}

TEST_CASE("A start that succeeded before its host went down is no running machine") {
    Lab lab;
    auto spec = lab.machine(1);
    while (spec.record.task.find(":qmstart:") == std::string::npos) {
        lab.step(spec);
        lab.wait(std::chrono::seconds{1});
    }
    lab.wait(std::chrono::seconds{10});
    REQUIRE(lab.vm(spec)->running);
    lab.simulator.cluster().stop_machine(*lab.vm(spec));
    lab.restart();
    lab.launch(spec);
    CHECK(lab.vm(spec)->running);
}

TEST_CASE("Lock time-outs are waited for") {
    Lab lab;
    lab.simulator.faults().add_task(
        "qmcreate", ".*",
        fault(TaskTrouble::fail_at_once,
              "can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout"),
        2);
    lab.simulator.faults().add_task(
        "qmstart", ".*",
        fault(TaskTrouble::fail_at_once, "can't lock file '/var/lock/qemu-server/lock-1.conf' - got timeout"),
        2);
    auto spec = lab.machine(1);
    lab.launch(spec);
    CHECK(lab.vm(spec)->running);
}

TEST_CASE("A cluster without quorum is not ready, and works again once it has one") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    for (const auto* host : {"porsche", "zagato"}) lab.simulator.cluster().power_off_host(host);
    spec.record.host = "alfaromeo";
    lab.wait(std::chrono::seconds{30});
    const auto result = lab.ensure(spec);
    REQUIRE(std::holds_alternative<NotReady>(result));
    CHECK_THAT(std::get<NotReady>(result).message, Contains("quorum"));
    CHECK(lab.simulator.cluster().world.machines.empty());
    for (const auto* host : {"porsche", "zagato"}) lab.simulator.cluster().power_on_host(host);
    lab.wait(std::chrono::seconds{30});
    lab.launch(spec);
}

TEST_CASE("A machine placed on a host that died before it was made goes to another host") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto dead = spec.record.host;
    lab.simulator.cluster().power_off_host(dead);
    lab.wait(std::chrono::seconds{30});
    lab.launch(spec);
    CHECK(spec.record.host != dead);
    CHECK(lab.simulator.cluster().world.machines.size() == 1);
}

TEST_CASE("A host that dies while it clones is given up, and what it began goes once somebody unlocked it") {
    Lab lab(local_templates());
    use_local_templates(lab);
    lab.simulator.cluster().world.durations.tasks["qmclone-full"] = std::chrono::seconds{20};
    auto spec = lab.machine(1);
    lab.place(spec);
    while (spec.record.task.empty()) lab.step(spec);
    lab.wait(std::chrono::seconds{5});
    const auto dead = spec.record.host;
    lab.simulator.cluster().power_off_host(dead);
    lab.wait(std::chrono::seconds{30});
    const auto failed = failure_of(lab, spec);
    CHECK(failed.reason == "HostDown");
    CHECK(failed.avoid_host);
    CHECK_THAT(failed.message, Contains(dead) && Contains(spec.record.machine_id));
    CHECK(blocked(lab, spec).reason == "HostUnreachable");

    auto second = lab.machine(2);
    second.avoid_hosts = {dead};
    lab.launch(second);
    CHECK(second.record.host != dead);

    lab.simulator.cluster().power_on_host(dead);
    lab.wait(std::chrono::seconds{60});
    REQUIRE(lab.vm(spec)->config.at("lock") == "clone");
    const auto locked = blocked(lab, spec);
    CHECK(locked.reason == "Locked");
    CHECK_THAT(locked.message,
               Contains("qm unlock " + spec.record.machine_id + " && qm destroy " + spec.record.machine_id));
    lab.simulator.cluster().world.machines.erase(std::stoi(spec.record.machine_id));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE(
    "A storage that is full fails the clone with the task's words, and the next attempt goes elsewhere") {
    Lab lab(local_templates());
    use_local_templates(lab);
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto full = spec.record.host;
    lab.simulator.cluster().world.storages["local"].total = 1;
    const auto failed = failure_of(lab, spec);
    CHECK(failed.reason == "CloneFailed");
    CHECK(failed.avoid_host);
    CHECK_THAT(failed.message, Contains("cloning the template failed:"));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.simulator.cluster().world.machines.size() == 3);
    CHECK(volumes_of_machines(lab) == 0);

    lab.simulator.cluster().world.storages["local"].total = 1ll << 40;
    auto next = lab.machine(1);
    next.identity.attempt = 2;
    next.avoid_hosts = {full};
    lab.launch(next);
    CHECK(next.record.host != full);
}

TEST_CASE("An option that Proxmox refuses ends the attempt with the option's name") {
    Lab lab;
    lab.config.spec.proxmox->vmOptions.push_back({"ostype", "beos"});
    lab.restart();
    auto spec = lab.machine(1);
    const auto failed = failure_of(lab, spec);
    CHECK(failed.reason == "CreateFailed");
    CHECK_THAT(failed.message, Contains("ostype"));
    CHECK_FALSE(failed.avoid_host);
}

TEST_CASE("A host without a storage for the boot image ends the attempt and is avoided") {
    Lab lab;
    lab.config.spec.proxmox->cloudInit->isoStorage = "missing";
    lab.restart();
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    const auto failed = failure_of(lab, spec);
    CHECK(failed.reason == "BootImageFailed");
    CHECK(failed.avoid_host);
    CHECK_THAT(failed.message, Contains("missing") && Contains("isoStorage"));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("No change is sent by a process that may no longer lead") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.leads = false;
    CHECK_THROWS_AS(lab.ensure(spec), FencedError);
    CHECK(lab.count("POST", ".*") == 0);
    lab.leads = true;
    lab.launch(spec);
    lab.leads = false;
    CHECK_THROWS_AS(lab.remove(spec), FencedError);
    CHECK(lab.vm(spec)->running);
}
