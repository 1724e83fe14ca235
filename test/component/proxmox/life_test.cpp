// Tests the life of one machine, from its creation to its removal.
#include "test/component/proxmox/lab.hpp"

using namespace providers;
using Catch::Contains;
using test::Lab;

TEST_CASE("A blank machine is placed, made as configured, marked and started") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.place(spec);
    CHECK(lab.vm(spec) == nullptr);
    const auto machine = lab.launch(spec);
    CHECK(machine.provider_id == "proxmox://lab/vms/" + spec.record.machine_id);
    CHECK(machine.zone == spec.record.host);

    const auto* vm = lab.vm(spec);
    REQUIRE(vm);
    CHECK(vm->node == spec.record.host);
    REQUIRE(vm->running);
    const auto& config = vm->config;
    CHECK(config.at("name") == "workers-1");
    CHECK(config.at("cores") == "2");
    CHECK(config.at("memory") == "4096");
    CHECK(config.at("tags") == "kubenodesmith-managed");
    CHECK(config.at("smbios1") == "uuid=" + spec.identity.system_uuid);
    CHECK(config.at("boot") == "order=net0;scsi0");
    CHECK_THAT(config.at("net0"), Contains("BC:24:11") && Contains("bridge=vmbr0"));
    CHECK_THAT(config.at("description"),
               Contains(spec.identity.claim_uid) && Contains(spec.identity.cluster_id));
}

TEST_CASE("A machine with a boot image finds it on a CD-ROM, and the image goes once it is not needed") {
    Lab lab;
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.launch(spec);
    const auto* vm = lab.vm(spec);
    REQUIRE(vm);
    REQUIRE(vm->running);
    const auto view = lab.simulator.cluster().view(*vm);
    CHECK(view.cdrom == "image of " + spec.record.machine_id + " on " + spec.record.host);
    CHECK(vm->config.at("boot") == "order=net0;scsi0");

    for (int calls = 0; !lab.run(lab.provider->discard_boot_image(spec.identity, spec.record)); ++calls) {
        REQUIRE(calls < 10);
        lab.wait(std::chrono::seconds{1});
    }
    CHECK(lab.vm(spec)->config.at("ide2") == "none,media=cdrom");
    CHECK(lab.simulator.cluster().world.storages.at("local").volumes.at(spec.record.host).size() ==
          1);  // the machine's disk
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("Removal stops and destroys the machine with its disks and its image, and proves that it is gone") {
    Lab lab;
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.launch(spec);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.vm(spec) == nullptr);
    for (const auto& [id, storage] : lab.simulator.cluster().world.storages) {
        for (const auto& [host, volumes] : storage.volumes) CHECK(volumes.empty());
    }
    CHECK(std::holds_alternative<Gone>(lab.remove(spec)));
    CHECK_FALSE(lab.run(lab.provider->get(spec.identity, spec.record)));
}

TEST_CASE("A machine that turns out to be in use is not told to end, until it is not") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    bool is_used = true;
    const auto in_use = [&]() -> asio::awaitable<bool> { co_return is_used; };
    CHECK(std::holds_alternative<RemovalInProgress>(lab.remove(spec, in_use)));
    lab.wait(std::chrono::seconds{10});
    CHECK(lab.vm(spec)->running);
    CHECK(lab.count("POST", ".*/status/(shutdown|stop)") == 0);
    is_used = false;
    lab.remove(spec, in_use);
    CHECK(lab.count("POST", ".*/status/(shutdown|stop)") == 1);
}

TEST_CASE("A machine that turns out to be in use is not switched off, until it is not") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    bool is_used = true;
    const auto in_use = [&]() -> asio::awaitable<bool> { co_return is_used; };
    const auto switch_power = [&](Power power) {
        const bool is_so = lab.run(lab.provider->switch_power(spec.identity, spec.record, power, in_use));
        lab.wait(std::chrono::seconds{10});
        return is_so;
    };
    CHECK_FALSE(switch_power(Power::off));
    CHECK(lab.vm(spec)->running);
    is_used = false;
    CHECK_FALSE(switch_power(Power::off));
    CHECK_FALSE(lab.vm(spec)->running);
    CHECK(switch_power(Power::off));
    CHECK_FALSE(switch_power(Power::on));
    CHECK(switch_power(Power::on));
}

TEST_CASE("From creation to boot a machine costs at most 14 requests beside those that follow tasks") {
    Lab lab;
    auto first = lab.machine(1);
    first.boot_image = &lab.images;
    lab.requests();
    lab.launch(first);
    const auto requests = lab.requests();
    INFO(Catch::Detail::stringify(requests));
    CHECK(requests.size() <= 14);
}

// One request is for the machines, one for the quorum of the host that showed them.
TEST_CASE("Looking at a quiet cluster costs at most two requests per 10 s, whatever the number of machines") {
    Lab lab;
    std::vector<MachineSpec> specs;
    for (int i = 1; i <= 10; ++i) {
        auto spec = lab.machine(i);
        lab.launch(spec);
        specs.push_back(spec);
        lab.wait(std::chrono::seconds{11});  // so that its name is known
    }
    CHECK(lab.run(lab.provider->list()).size() == 10);
    lab.requests();
    for (int second = 0; second < 60; ++second) {
        CHECK(lab.run(lab.provider->list()).size() == 10);
        lab.run(lab.provider->offerings());
        lab.wait(std::chrono::seconds{1});
    }
    CHECK(lab.requests().size() <= 12);
}

TEST_CASE("The list names every machine of ours with its identity, and no other") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    auto foreign = lab.machine(2);
    foreign.identity.cluster_id = "another-cluster";
    lab.launch(foreign);
    lab.plant(100, "porsche", {{"name", "somebody"}, {"tags", "kubenodesmith-managed"}});
    lab.wait(std::chrono::seconds{15});
    const auto machines = lab.run(lab.provider->list());
    REQUIRE(machines.size() == 1);
    CHECK(machines[0].identity == spec.identity);
    CHECK(machines[0].record == MachineRecord{spec.record.host, spec.record.machine_id, ""});
    CHECK(machines[0].state == MachineState::running);
    CHECK(machines[0].cpu_cores == 2);
    CHECK(machines[0].memory_mib == 4096);
}

TEST_CASE("Machines that other providers of this Kubernetes cluster made are found, with what removes them") {
    Lab lab;
    auto own = lab.machine(1);
    lab.launch(own);
    auto foreign = lab.machine(2);
    foreign.identity.cluster_id = "another-cluster";
    lab.launch(foreign);
    auto former = lab.machine(3);
    former.identity.provider_uid = "of-a-provider-that-is-gone";
    lab.launch(former);
    lab.wait(std::chrono::seconds{15});
    lab.requests();
    const auto strays = lab.run(lab.provider->capabilities().stray_finder->strays());
    REQUIRE(strays.size() == 1);
    CHECK(strays[0].identity == former.identity);
    CHECK(strays[0].record == MachineRecord{former.record.host, former.record.machine_id, ""});
    const auto& id = former.record.machine_id;
    CHECK(strays[0].removal == "on " + former.record.host + ", first see whose it is: qm config " + id +
                                   "; if it is not needed: qm stop " + id + " && qm destroy " + id +
                                   " --purge --destroy-unreferenced-disks 0");
}

TEST_CASE(
    "A machine whose configuration cannot be read after a restart is on the list, without an identity") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.wait(std::chrono::seconds{15});
    const auto known = lab.run(lab.provider->list());
    REQUIRE(known.size() == 1);
    lab.restart();
    lab.simulator.faults().add("GET", "/nodes/.*/config", {.status = 595}, 100);
    auto machines = lab.run(lab.provider->list());
    REQUIRE(machines.size() == 1);
    CHECK(machines[0].identity == MachineIdentity{});
    CHECK(machines[0].provider_id == known[0].provider_id);
    lab.simulator.faults().clear();
    machines = lab.run(lab.provider->list());
    REQUIRE(machines.size() == 1);
    CHECK(machines[0].identity == spec.identity);
}

TEST_CASE("A clone that was listed before it had its own UUID is listed with it once it runs") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    auto& cluster = lab.simulator.cluster();
    cluster.stop_machine(*lab.vm(spec));
    auto& smbios = lab.vm(spec)->config.at("smbios1");
    const auto own = std::exchange(smbios, "uuid=11111111-2222-4333-8444-555555555555");
    lab.wait(std::chrono::seconds{15});
    lab.restart();
    auto machines = lab.run(lab.provider->list());
    REQUIRE(machines.size() == 1);
    CHECK(machines[0].identity.system_uuid == "11111111-2222-4333-8444-555555555555");
    smbios = own;
    cluster.start_machine(*lab.vm(spec));
    lab.wait(std::chrono::seconds{15});
    machines = lab.run(lab.provider->list());
    REQUIRE(machines.size() == 1);
    CHECK(machines[0].identity == spec.identity);
}

TEST_CASE("A machine as it is now: running, stopped, gone") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    CHECK(lab.run(lab.provider->get(spec.identity, spec.record))->state == MachineState::running);
    lab.simulator.cluster().stop_machine(*lab.vm(spec));
    CHECK(lab.run(lab.provider->get(spec.identity, spec.record))->state == MachineState::stopped);
    lab.simulator.cluster().world.machines.clear();
    CHECK_FALSE(lab.run(lab.provider->get(spec.identity, spec.record)));
}

TEST_CASE("A machine that was moved is found and removed where it is") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    const std::string other = spec.record.host == "zagato" ? "porsche" : "zagato";
    lab.vm(spec)->node = other;
    CHECK(lab.run(lab.provider->get(spec.identity, spec.record))->record.host == other);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.vm(spec) == nullptr);
}

TEST_CASE("A VM whose lock hangs does not keep the leader's epoch from the other VMs") {
    Lab lab;
    auto first = lab.machine(1);
    auto second = lab.machine(2);
    lab.launch(first);
    lab.launch(second);
    lab.simulator.faults().add("PUT", ".*/qemu/" + first.record.machine_id + "/config",
                               {.status = 500,
                                .reason = "can't lock file '/var/lock/qemu-server/lock-" +
                                          first.record.machine_id + ".conf' - got timeout"},
                               1000);
    auto* keeper = lab.provider->capabilities().epoch_keeper;
    const ExpectedUuid expected = [&](const std::string& claim_uid, std::int64_t) {
        return claim_uid == first.identity.claim_uid ? first.identity.system_uuid
                                                     : second.identity.system_uuid;
    };
    const auto write = [keeper](EpochSlot slot) -> asio::awaitable<bool> {
        EpochRecord record{"aaaaaa11", ""};
        co_await keeper->write_epoch(std::move(slot), std::move(record));
        co_return true;
    };
    const auto lowest = lab.run(keeper->read_epoch(expected)).slot.value();
    REQUIRE(lowest.machine.machine_id == first.record.machine_id);
    CHECK_THROWS_WITH(lab.run(write(lowest)), Contains("got timeout"));
    const auto other = lab.run(keeper->read_epoch(expected)).slot.value();
    CHECK(other.machine.machine_id == second.record.machine_id);
    CHECK(lab.run(write(other)));
    CHECK(lab.run(keeper->read_epoch(expected)).slot->record == EpochRecord{"aaaaaa11", ""});
}

TEST_CASE("A removal that waits for the wait of a new leader is not stuck, and one for a person is") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    RemovalHold hold{"the leader is new"};
    lab.environment.why_not_destroy = [&](const std::string&) { return hold; };
    const auto waits = lab.remove(spec);
    REQUIRE(std::holds_alternative<RemovalInProgress>(waits));
    CHECK_THAT(std::get<RemovalInProgress>(waits).message, Contains("the leader is new"));
    hold = {"another operator owns the same machines", true};
    const auto held = lab.remove(spec);
    REQUIRE(std::holds_alternative<RemovalBlocked>(held));
    CHECK(std::get<RemovalBlocked>(held).reason == "RemovalHeld");
    CHECK(lab.vm(spec)->running);
    hold = {};
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}
