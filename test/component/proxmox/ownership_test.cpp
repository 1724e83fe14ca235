// The provider changes nothing that is not provably ours, and gives up none of our machines that may still
// exist.
#include "providers/capabilities.hpp"
#include "providers/errors.hpp"
#include "providers/launch.hpp"
#include "test/component/proxmox/lab.hpp"

using namespace providers;
using Catch::Contains;
using test::Lab;

namespace {

RemovalBlocked blocked(Lab& lab, MachineSpec& spec) {
    const auto result = lab.destroy(spec);
    REQUIRE(std::holds_alternative<RemovalBlocked>(result));
    return std::get<RemovalBlocked>(result);
}

// Gives the machine the mark of a cluster with another name, as after reuse of its VMID.
void hand_over(Lab& lab, const MachineSpec& spec) {
    auto* vm = lab.vm(spec);
    vm->config["smbios1"] = "uuid=99999999-0000-4000-8000-000000000000";
    vm->config["description"] = "somebody else's";
    vm->config["name"] = "database";
    vm->config["tags"] = "prod";
}

}  // namespace

TEST_CASE("A VMID that was given to somebody else is left alone, and our machine counts as gone") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    hand_over(lab, spec);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    REQUIRE(lab.vm(spec));
    CHECK(lab.vm(spec)->running);
    CHECK(lab.count("POST", ".*/status/(stop|shutdown)") == 0);
    CHECK(lab.count("DELETE", ".*") == 0);
    CHECK_FALSE(lab.run(lab.provider->get(spec.identity, spec.record)));
}

TEST_CASE("A machine whose mark is half ours is left alone and reported") {
    for (const auto& [option, value] :
         std::map<std::string, std::string>{{"smbios1", "uuid=99999999-0000-4000-8000-000000000000"},
                                            {"description", "edited"},
                                            {"tags", "other"}}) {
        INFO(option);
        Lab lab;
        auto spec = lab.machine(1);
        lab.launch(spec);
        lab.vm(spec)->config[option] = value;
        const auto why = blocked(lab, spec);
        CHECK(why.reason == "OwnershipMismatch");
        CHECK_THAT(why.message, Contains("VM " + spec.record.machine_id));
        CHECK(lab.vm(spec)->running);
    }
}

TEST_CASE("A machine whose mark was edited while nobody followed its tasks is not started") {
    for (const std::string task : {":qmcreate:", ":imgcopy:"}) {
        INFO(task);
        Lab lab;
        auto spec = lab.machine(1);
        spec.boot_image = &lab.images;
        while (spec.record.task.find(task) == std::string::npos) {
            lab.wait(std::chrono::seconds{1});
            lab.step(spec);
        }
        lab.wait(std::chrono::minutes{1});
        lab.vm(spec)->config["description"] = "edited";
        lab.restart();
        lab.requests();
        const auto result = lab.ensure(spec);
        REQUIRE(std::holds_alternative<AttemptFailed>(result));
        CHECK(std::get<AttemptFailed>(result).reason == "OwnershipMismatch");
        for (const auto& request : lab.requests()) CHECK_THAT(request, Catch::StartsWith("GET "));
    }
}

TEST_CASE("A machine that somebody takes over between two of our writes does not become ours again") {
    Lab lab;
    auto spec = lab.machine(1);
    int changes = 0;
    lab.simulator.observe([&](const proxmox_simulator::RequestRecord& request) {
        const bool is_first = request.method == "PUT" && request.status == 200 && ++changes == 1;
        if (is_first) lab.vm(spec)->config["description"] = "mine now";
    });
    EnsureResult result = Machine();
    for (int tries = 0; tries < 100 && !std::holds_alternative<AttemptFailed>(result); ++tries) {
        lab.wait(std::chrono::seconds{1});
        result = lab.ensure(spec);
        if (const auto* machine = std::get_if<Machine>(&result)) spec.record = machine->record;
    }
    REQUIRE(std::holds_alternative<AttemptFailed>(result));
    CHECK(std::get<AttemptFailed>(result).reason == "OwnershipMismatch");
    CHECK(lab.vm(spec)->config["description"] == "mine now");
    CHECK_FALSE(lab.vm(spec)->running);
    CHECK(changes == 1);
}

TEST_CASE("A machine that its user keeps and whose mark somebody edited is left as it is") {
    for (const auto& [option, value] :
         std::map<std::string, std::string>{{"description", "edited"}, {"tags", "other"}}) {
        INFO(option);
        Lab lab;
        auto spec = lab.machine(1);
        lab.launch(spec);
        lab.vm(spec)->config[option] = value;
        lab.requests();
        CHECK(lab.run(lab.provider->release(spec.identity, spec.record)));
        for (const auto& request : lab.requests()) CHECK_THAT(request, Catch::StartsWith("GET "));
    }
}

TEST_CASE("The boot image of a machine that is not provably ours any more is left alone") {
    Lab lab;
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.launch(spec);
    lab.vm(spec)->config["tags"] = "other";
    lab.requests();
    CHECK(lab.run(lab.provider->discard_boot_image(spec.identity, spec.record)));
    for (const auto& request : lab.requests()) CHECK_THAT(request, Catch::StartsWith("GET "));
}

// A restored backup keeps description, tags and SMBIOS UUID, unless it is restored as unique.
TEST_CASE("A backup of a machine that a person restored under another VMID keeps running after the machine") {
    const bool has_disk = GENERATE(true, false);
    INFO((has_disk ? "with a disk" : "without a disk"));
    Lab lab;
    auto& options = lab.config.spec.proxmox->vmOptions;
    if (!has_disk) std::erase_if(options, [](const auto& option) { return option.name == "scsi0"; });
    lab.restart();
    auto spec = lab.machine(1);
    const auto id = lab.launch(spec).record.machine_id;
    auto restored = *lab.vm(spec);
    if (has_disk) {
        auto& disk = restored.config.at("scsi0");
        for (auto at = disk.find(id); at != std::string::npos; at = disk.find(id))
            disk.replace(at, id.size(), "7777");
    }
    lab.simulator.cluster().world.machines[7777] = restored;
    lab.vm("7777")->vmid = 7777;
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    lab.wait(std::chrono::minutes{1});
    const auto machines = lab.run(lab.provider->list());
    REQUIRE(machines.size() == 1);
    auto copy = spec;
    copy.record = machines[0].record;
    REQUIRE(copy.record.machine_id == "7777");
    const auto why = blocked(lab, copy);
    CHECK(why.reason == "OwnershipMismatch");
    CHECK_THAT(why.message, Contains("VM 7777") && Contains(id));
    REQUIRE(lab.vm("7777"));
    CHECK(lab.vm("7777")->running);
}

TEST_CASE("A machine of the same name in another cluster's hands is never touched") {
    Lab lab;
    auto theirs = lab.machine(1);
    theirs.identity.cluster_id = "another-cluster";
    theirs.identity.claim_uid = "cccccccc-0000-4000-8000-000000000001";
    theirs.identity.system_uuid = "dddddddd-0000-5000-8000-000000000001";
    lab.launch(theirs);
    auto ours = lab.machine(1);
    ours.record = theirs.record;
    CHECK(std::holds_alternative<Gone>(lab.destroy(ours)));
    CHECK(lab.vm(theirs)->running);
}

TEST_CASE("A protected machine is not removed, and the message says how it can be") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.vm(spec)->config["protection"] = "1";
    CHECK(blocked(lab, spec).reason == "ProtectionEnabled");
    lab.vm(spec)->config.erase("protection");
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("A machine that is being backed up is removed after the backup") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.vm(spec)->config["lock"] = "backup";
    const auto why = blocked(lab, spec);
    CHECK(why.reason == "Locked");
    CHECK_THAT(why.message, Contains("backup"));
    lab.vm(spec)->config.erase("lock");
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("A machine on a dead host is neither gone nor touched until the host is back") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.cluster().power_off_host(spec.record.host);
    lab.wait(std::chrono::seconds{30});
    CHECK(blocked(lab, spec).reason == "HostUnreachable");
    CHECK_THROWS_AS(lab.run(lab.provider->get(spec.identity, spec.record)), ProviderError);
    lab.simulator.cluster().power_on_host(spec.record.host);
    lab.wait(std::chrono::seconds{30});
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.vm(spec) == nullptr);
}

TEST_CASE("A machine that the token may not see any more is not given up") {
    auto world = proxmox_simulator::default_world();
    world.custom_roles["KubeNodeSmith"].erase("VM.Audit");
    Lab lab(world);
    auto spec = lab.machine(1);
    spec.record = {"porsche", "1500", ""};
    lab.plant(1500, "porsche", {{"name", "workers-1"}});
    CHECK(blocked(lab, spec).reason == "MissingPrivileges");
    CHECK_THROWS_AS(lab.run(lab.provider->get(spec.identity, spec.record)), ProviderError);
    lab.simulator.cluster().world.machines.clear();
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("A machine is shut down before it is destroyed, as a person would do it") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.requests();
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.count("POST", ".*/status/shutdown") == 1);
    CHECK(lab.count("POST", ".*/status/stop") == 0);
}

TEST_CASE("A machine that is to be kept is shut down, set aside and takes no room; later it is removed") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.vm(spec)->config["onboot"] = "1";
    auto& stopper = *lab.provider->capabilities().machine_stopper;
    const auto stop = [&](InUseCheck in_use = {}) {
        for (int calls = 0; calls < 100; ++calls) {
            auto result = lab.run(stopper.stop(spec.identity, spec.record, in_use));
            const auto* busy = std::get_if<RemovalInProgress>(&result);
            if (!busy || busy->message == kInUseAfterAll) return result;
            spec.record.task = busy->task;
            lab.wait(busy->retry_after);
        }
        throw std::runtime_error("it is never stopped");
    };
    stop([]() -> boost::asio::awaitable<bool> { co_return true; });
    CHECK(lab.vm(spec)->running);
    lab.requests();
    CHECK(std::holds_alternative<Stopped>(stop()));
    CHECK(lab.count("POST", ".*/status/shutdown") == 1);
    CHECK_FALSE(lab.vm(spec)->running);
    CHECK(lab.vm(spec)->config["onboot"] == "0");
    CHECK_THAT(lab.vm(spec)->config["tags"], Contains("kubenodesmith-kept"));
    CHECK(std::holds_alternative<Stopped>(stop()));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.vm(spec) == nullptr);
    CHECK(std::holds_alternative<Gone>(stop()));
}

TEST_CASE("What is not provably the machine that is to be kept is not stopped") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.vm(spec)->config["description"] = "mine";
    auto& stopper = *lab.provider->capabilities().machine_stopper;
    const auto result = lab.run(stopper.stop(spec.identity, spec.record, {}));
    CHECK(std::get<RemovalBlocked>(result).reason == "OwnershipMismatch");
    CHECK(lab.vm(spec)->running);
}

TEST_CASE("A guest that does not end is stopped after a minute") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.vm(spec)->guest.agent_silent = true;
    const auto begin = lab.clock.now();
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.clock.now() - begin < std::chrono::minutes{2});
    CHECK(lab.count("POST", ".*/status/shutdown") == 1);
}

TEST_CASE("A shutdown that fails is followed by a stop, which is tried again; the machine is not given up") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.faults().add_task("qmshutdown", ".*", {}, 1);
    lab.simulator.faults().add_task("qmstop", ".*", {}, 3);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.vm(spec) == nullptr);
    CHECK(lab.count("POST", ".*/status/shutdown") == 1);
    CHECK(lab.count("POST", ".*/status/stop") == 4);
}

TEST_CASE("A destruction that fails is tried again") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.faults().add_task("qmdestroy", ".*", {}, 2);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.vm(spec) == nullptr);
}
