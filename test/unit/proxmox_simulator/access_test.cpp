// Who may do what, and how strangers are treated.
#include "test/simulators/proxmox/core/access.hpp"

#include "test/support/catch.hpp"
#include "test/unit/proxmox_simulator/driver.hpp"

namespace proxmox_simulator::test {

TEST_CASE("a wrong token is answered after three seconds without a body") {
    Driver driver;
    driver.token.back() = '5';
    auto answer = driver.get("/version");
    CHECK(answer.status == 401);
    CHECK(answer.reason == "Authentication failed!");
    CHECK(answer.body.empty());
    CHECK(answer.took == 3s);
}

TEST_CASE("a separated token has what both its user and itself have") {
    World world = default_world();
    world.custom_roles["Operator"] = {"VM.Audit", "VM.PowerMgmt"};
    world.tokens["automation@pve!half"] = {"half", "automation@pve", "s", true, 0, ""};
    CHECK(permissions(world, "automation@pve!half", "/vms/100").empty());
    world.acl.push_back({"/vms", "token", "automation@pve!half", "Operator", true});
    CHECK(permissions(world, "automation@pve!half", "/vms/100") ==
          std::map<std::string, bool>{{"VM.Audit", true}, {"VM.PowerMgmt", true}});
    world.custom_roles["KubeNodeSmith"].erase("VM.PowerMgmt");
    CHECK(permissions(world, "automation@pve!half", "/vms/100") ==
          std::map<std::string, bool>{{"VM.Audit", true}});
}

TEST_CASE("an entry on a deeper path replaces what was inherited") {
    World world = default_world();
    CHECK(has_any(world, "automation@pve", "/pool/kubernetes", {"VM.Allocate"}));
    world.acl.push_back({"/pool/kubernetes", "user", "automation@pve", "PVEAuditor", true});
    CHECK_FALSE(has_any(world, "automation@pve", "/pool/kubernetes", {"VM.Allocate"}));
    CHECK(has_any(world, "automation@pve", "/pool/kubernetes", {"VM.Audit"}));
}

TEST_CASE("a pool gives rights on its members") {
    World world = default_world();
    world.acl = {{"/pool/kubernetes", "user", "automation@pve", "PVEVMAdmin", true}};
    CHECK_FALSE(has_any(world, "automation@pve", "/vms/100", {"VM.PowerMgmt"}));
    world.pools["kubernetes"].vms.insert(100);
    CHECK(has_any(world, "automation@pve", "/vms/100", {"VM.PowerMgmt"}));
}

TEST_CASE("missing rights are named, before it is said whether the machine exists") {
    Driver driver;
    driver.world().acl.clear();
    auto answer = driver.post("/nodes/alfaromeo/qemu/4711/status/start");
    CHECK(answer.status == 403);
    CHECK(answer.reason == "Permission check failed (/vms/4711, VM.PowerMgmt)");
    auto agent = driver.post("/nodes/alfaromeo/qemu/4711/agent/ping");
    CHECK(agent.reason ==
          "Permission check failed (/vms/4711, VM.GuestAgent.Audit|VM.GuestAgent.Unrestricted)");
}

TEST_CASE("a pool-scoped token must say the pool it creates in") {
    Driver driver;
    driver.world().acl = {{"/pool/kubernetes", "user", "automation@pve", "PVEVMAdmin", true}};
    CHECK(driver.post("/nodes/alfaromeo/qemu", "vmid=100").reason == "Permission check failed");
    CHECK(driver.finish(driver.post("/nodes/alfaromeo/qemu", "vmid=100&pool=kubernetes")) == "OK");
    CHECK(driver.finish(driver.post("/nodes/alfaromeo/qemu/100/status/start")) == "OK");
}

TEST_CASE("a bridge needs SDN.Use and is hidden without") {
    Driver driver;
    driver.world().custom_roles["KubeNodeSmith"].erase("SDN.Use");
    auto answer = driver.post("/nodes/alfaromeo/qemu", "vmid=100&net0=virtio%2Cbridge%3Dvmbr0");
    CHECK(answer.reason == "Permission check failed (/sdn/zones/localnetwork/vmbr0, SDN.Use)");
    CHECK(driver.get("/nodes/alfaromeo/network?type=any_bridge").data().as_array().empty());
}

TEST_CASE("lists leave out what the token may not see") {
    Driver driver;
    driver.finish(driver.post("/nodes/alfaromeo/qemu", "vmid=100"));
    CHECK(driver.get("/cluster/resources?type=vm").data().as_array().size() == 1);
    driver.world().custom_roles["KubeNodeSmith"].erase("VM.Audit");
    CHECK(driver.get("/cluster/resources?type=vm").data().as_array().empty());
    driver.world().custom_roles["KubeNodeSmith"].erase("Sys.Audit");
    CHECK_FALSE(driver.get("/nodes").data().at(0).as_object().contains("maxmem"));
    CHECK(driver.get("/cluster/status").status == 403);
}

TEST_CASE("a ticket lasts two hours and writing needs its CSRF token") {
    Driver driver;
    driver.token.clear();
    auto login = driver.post("/access/ticket", "username=automation%40pve&password=automation").data();
    auto wish = driver.request("POST", "/pools", "poolid=a");
    wish.headers.set("Cookie", "PVEAuthCookie=" + std::string(login.at("ticket").as_string()));
    CHECK(driver.send(wish).reason == "Permission denied - invalid csrf token");
    wish.headers.set("CSRFPreventionToken", std::string(login.at("CSRFPreventionToken").as_string()));
    CHECK(driver.send(wish).status ==
          403);  // Pool.Allocate is not among the rights, but it is known who asks
    driver.wait(2h);
    CHECK(driver.send(wish).status == 401);
}

TEST_CASE("root's own options are refused to tokens") {
    Driver driver;
    CHECK(driver.post("/nodes/alfaromeo/qemu", "vmid=100&args=-foo").reason ==
          "only root can set 'args' config");
    CHECK(driver.post("/nodes/alfaromeo/qemu", "vmid=100&vmgenid=1").reason ==
          "only root can set 'vmgenid' config");
    CHECK(driver.post("/nodes/alfaromeo/qemu/100/status/stop", "skiplock=1").errors() ==
          std::vector<std::string>{"skiplock"});
}

}  // namespace proxmox_simulator::test
