// Tests workers, locks and races.
#include "test/support/catch.hpp"
#include "test/unit/proxmox_simulator/driver.hpp"

namespace proxmox_simulator::test {
namespace {

constexpr const char* kQemu = "/nodes/alfaromeo/qemu";

struct Fixture : Driver {
    Fixture() {
        finish(post(kQemu, "vmid=100&agent=1&scsi0=local%3A8"));
        finish(post(kQemu, "vmid=9000&name=tmpl&scsi0=shared%3A8&net0=virtio%2Cbridge%3Dvmbr0&tags=t"));
        finish(post(std::string(kQemu) + "/9000/template"));
    }
    std::string vm(const std::string& rest) const { return std::string(kQemu) + "/100/" + rest; }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "an ID is taken by create within the request and by clone only within the task") {
    auto first = start(request("POST", kQemu, "vmid=200"));
    auto second = start(request("POST", "/nodes/porsche/qemu", "vmid=200"));
    auto clone1 = start(request("POST", "/nodes/alfaromeo/qemu/9000/clone", "newid=300"));
    auto clone2 = start(request("POST", "/nodes/alfaromeo/qemu/9000/clone", "newid=300&target=porsche"));
    wait(1ms);
    CHECK((*first)->status == 200);
    CHECK((*second)->reason == "unable to create VM 200 - VM 200 already exists on node 'alfaromeo'");
    CHECK(finish(**clone1) == "OK");
    CHECK(finish(**clone2).find("lock-300.conf' - got timeout") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "while it is cloned a machine is a lock without name and tags") {
    auto clone = post("/nodes/alfaromeo/qemu/9000/clone", "newid=300&name=w&pool=kubernetes");
    wait(500ms);
    auto config = get("/nodes/alfaromeo/qemu/300/config").data();
    CHECK(config.at("lock") == "clone");
    CHECK_FALSE(config.as_object().contains("name"));
    CHECK(put("/nodes/alfaromeo/qemu/300/config", "cores=2").reason == "VM is locked (clone)");
    CHECK(finish(clone) == "OK");
    config = get("/nodes/alfaromeo/qemu/300/config").data();
    CHECK(config.at("tags") == "t");  // inherited
    CHECK(config.at("net0") != get("/nodes/alfaromeo/qemu/9000/config").data().at("net0"));
    CHECK(world().pools.at("kubernetes").vms.contains(300));
}

TEST_CASE_METHOD(Fixture, "a template with linked clones cannot be destroyed") {
    finish(post("/nodes/alfaromeo/qemu/9000/clone", "newid=300"));
    CHECK(finish(remove("/nodes/alfaromeo/qemu/9000")).ends_with("is still in use by linked cloned"));
    CHECK(finish(remove("/nodes/alfaromeo/qemu/300")) == "OK");
    CHECK(finish(remove("/nodes/alfaromeo/qemu/9000")) == "OK");
    CHECK(world().storages.at("shared").volumes.at("").empty());
}

TEST_CASE_METHOD(Fixture, "a shutdown holds the lock until it ends, and a stop can overrule it") {
    finish(post(vm("status/start")));
    world().machines.at(100).guest.agent_silent = true;
    auto shutdown = post(vm("status/shutdown"), "timeout=100");
    wait(5s);
    auto change = put(vm("config"), "description=z");
    CHECK(change.reason == "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout");
    CHECK(change.took == 10s);
    CHECK(finish(post(vm("status/stop"))).ends_with("got timeout"));
    CHECK(finish(post(vm("status/stop"), "overrule-shutdown=1")) == "OK");
    CHECK(finish(shutdown) == "received interrupt");
    CHECK_FALSE(world().machines.at(100).running);
}

TEST_CASE_METHOD(Fixture, "starting what does not exist is accepted and fails in the task") {
    auto answer = post("/nodes/alfaromeo/qemu/4711/status/start");
    CHECK(finish(answer) == "Configuration file 'nodes/alfaromeo/qemu-server/4711.conf' does not exist");
}

TEST_CASE_METHOD(Fixture, "a failed start after creation shows in its own task only") {
    CHECK(finish(post(kQemu, "vmid=101&cores=99&start=1")) == "OK");
    wait(5s);
    CHECK(cluster().tasks.all().back()->exit_status == "MAX 16 vcpus allowed per VM on this node");
}

TEST_CASE_METHOD(Fixture, "a failed creation leaves neither machine nor disks") {
    auto end = finish(post(kQemu, "vmid=101&scsi0=local%3A8&ide2=local%3Aiso%2Fnone.iso%2Cmedia%3Dcdrom"));
    CHECK(end == "unable to create VM 101 - volume 'local:iso/none.iso' does not exist");
    CHECK_FALSE(world().machines.contains(101));
    CHECK(world().storages.at("local").volumes.at("alfaromeo").size() == 1);  // the disk of machine 100
}

TEST_CASE_METHOD(Fixture,
                 "an unavailable storage makes destruction end with a warning and leaks the volume") {
    world().storages.at("local").active = false;
    CHECK(finish(remove(vm(""))) == "WARNINGS: 1");
    CHECK_FALSE(world().machines.contains(100));
    CHECK(world().storages.at("local").volumes.at("alfaromeo").size() == 1);
}

TEST_CASE_METHOD(Fixture, "changes of a running machine's size wait for its next start") {
    finish(post(vm("status/start")));
    CHECK(put(vm("config"), "memory=4096&description=d").status == 200);
    CHECK(get(vm("config?current=1")).data().as_object().contains("memory") == false);
    CHECK(get(vm("config")).data().at("memory") == "4096");
    CHECK(get(vm("status/current")).data().at("maxmem") == 512 * kMiB);
    finish(post(vm("status/stop")));
    finish(post(vm("status/start")));
    CHECK(get(vm("status/current")).data().at("maxmem") == 4096 * kMiB);
}

TEST_CASE_METHOD(Fixture, "a change made on an old digest is refused") {
    auto digest = std::string(get(vm("config")).data().at("digest").as_string());
    CHECK(put(vm("config"), "description=a&digest=" + digest).status == 200);
    CHECK(put(vm("config"), "description=b&digest=" + digest).reason ==
          "checksum mismatch (file change by other user?)");
    world().version = "8.1.4";
    CHECK(put(vm("config"), "description=b&digest=" + digest).reason ==
          "checksum missmatch (file change by other user?)");
}

TEST_CASE_METHOD(Fixture, "allocations wait for each other in one storage, and in vain after ten seconds") {
    world().durations.tasks["allocate"] = 6s;
    auto first = post(kQemu, "vmid=201&scsi0=shared%3A1");
    auto second = post("/nodes/porsche/qemu", "vmid=202&scsi0=shared%3A1");
    auto third = post("/nodes/zagato/qemu", "vmid=203&scsi0=shared%3A1");
    auto elsewhere = post("/nodes/zagato/qemu", "vmid=204&scsi0=local%3A1");
    CHECK(finish(first) == "OK");
    CHECK(finish(second) == "OK");
    CHECK(finish(third) ==
          "unable to create VM 203 - cfs-lock 'storage-shared' error: got lock request timeout");
    CHECK(finish(elsewhere) == "OK");
}

TEST_CASE_METHOD(Fixture,
                 "the guest agent takes three seconds to be missed and answers once the guest has booted") {
    finish(post(vm("status/start")));
    auto early = post(vm("agent/ping"));
    CHECK(early.reason == "QEMU guest agent is not running");
    CHECK(early.took == 3s);
    CHECK(post(vm("agent/ping")).status == 200);
    CHECK(get(vm("agent/get-users")).data().at("result").at("error").at("class") == "CommandNotFound");
    auto pid = get(vm("agent/exec-status?pid=1"));
    CHECK(pid.reason == "Agent error: PID 1 does not exist");
}

}  // namespace proxmox_simulator::test
