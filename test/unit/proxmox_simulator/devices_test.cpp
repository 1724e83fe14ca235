// Tests devices of hosts that machines get by a mapping, and suspended machines.
#include <boost/json/array.hpp>

#include "test/support/catch.hpp"
#include "test/unit/proxmox_simulator/driver.hpp"

namespace proxmox_simulator::test {
namespace {

struct Fixture : Driver {
    Fixture() {
        for (const auto* right : {"Mapping.Use", "Mapping.Modify"})
            world().custom_roles["KubeNodeSmith"].insert(right);
        world().pci_mappings["disk"].map = {
            "node=alfaromeo,path=0000:00:02.0,id=1af4:1042,subsystem-id=1af4:1042"};
    }
    void make(int vmid, const std::string& options = "hostpci0=mapping%3Ddisk") {
        finish(post("/nodes/alfaromeo/qemu", "vmid=" + std::to_string(vmid) + "&" + options));
    }
    std::string start_machine(int vmid) {
        return finish(post("/nodes/alfaromeo/qemu/" + std::to_string(vmid) + "/status/start"));
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a device is given to one machine at a time") {
    make(100);
    make(101);
    CHECK(start_machine(100) == "OK");
    CHECK(start_machine(101) == "could not find a free device for 'hostpci0'");
    finish(post("/nodes/alfaromeo/qemu/100/status/stop"));
    CHECK(start_machine(101) == "OK");
    CHECK(post("/nodes/alfaromeo/qemu/101/status/suspend", "todisk=1").status == 500);
}

TEST_CASE_METHOD(Fixture, "who may not use a mapping can neither set it, take it out nor copy it") {
    make(100);
    world().custom_roles["KubeNodeSmith"].erase("Mapping.Use");
    const std::string machine = "/nodes/alfaromeo/qemu/100";
    const std::string refusal = "Permission check failed (/mapping/pci/disk, Mapping.Use)";
    CHECK(put(machine + "/config", "hostpci1=mapping%3Ddisk").reason == refusal);
    CHECK(put(machine + "/config", "delete=hostpci0").reason == refusal);
    CHECK(post(machine + "/clone", "newid=101&full=1").reason == refusal);
    CHECK(put(machine + "/config", "hostpci1=0000:00:03.0").reason ==
          "only root can set 'hostpci1' config for non-mapped devices");
    CHECK(start_machine(100) == "OK");
}

TEST_CASE_METHOD(Fixture, "a suspension that fails leaves the guest running and locked, for root alone") {
    world().qemu_lacks_savevm = true;
    make(100, "memory=512&scsi0=local%3A2");
    start_machine(100);
    const std::string machine = "/nodes/alfaromeo/qemu/100";
    CHECK(finish(post(machine + "/status/suspend", "todisk=1")) ==
          "VM 100 qmp command 'savevm-start' failed - The command savevm-start has not been found");
    CHECK(get(machine + "/status/current").data().at("lock") == "suspending");
    CHECK(get(machine + "/status/current").data().at("status") == "running");
    CHECK(put(machine + "/config", "cores=2").reason == "VM is locked (suspending)");
    CHECK(finish(post(machine + "/status/stop")) == "VM is locked (suspending)");
    CHECK(remove(machine).reason == "VM 100 is running - destroy failed");
}

}  // namespace proxmox_simulator::test
