// Tests access rights, and how the simulator treats strangers.
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

TEST_CASE("tags of a VM that is still to be made need a right on it, whatever its pool allows") {
    World world = default_world();
    world.custom_roles["Maker"] = world.custom_roles["KubeNodeSmith"];
    world.custom_roles["KubeNodeSmith"].erase("VM.Config.Options");
    world.acl.push_back({"/pool/kubernetes", "user", "automation@pve", "Maker", true});
    Driver driver(std::move(world));
    const std::string path = "/nodes/alfaromeo/qemu";
    auto refused = driver.post(path, "vmid=1310&pool=kubernetes&tags=a");
    CHECK(refused.reason == "Permission check failed (/vms/1310, VM.Config.Options)");
    CHECK(driver.finish(driver.post(path, "vmid=1310&pool=kubernetes&name=x")) == "OK");
    CHECK(driver.put(path + "/1310/config", "tags=a").status == 200);
}

TEST_CASE("taking a cloud-init drive away needs the rights on CD-ROMs and on cloud-init") {
    Driver driver;
    const std::string path = "/nodes/alfaromeo/qemu";
    driver.finish(driver.post(path, "vmid=100&ide2=local%3Acloudinit&ide0=none%2Cmedia%3Dcdrom"));
    driver.world().custom_roles["KubeNodeSmith"].erase("VM.Config.Cloudinit");
    CHECK(driver.put(path + "/100/config", "delete=ide0").status == 200);
    CHECK(driver.put(path + "/100/config", "delete=ide2").reason ==
          "Permission check failed (/vms/100, VM.Config.Cloudinit)");
}

TEST_CASE("the datacenter's options say who may give which tags") {
    Driver driver;
    const std::string path = "/nodes/alfaromeo/qemu";
    driver.finish(driver.post(path, "vmid=100&tags=b"));
    auto& options = driver.world().options;
    const auto put = [&](const std::string& tags) {
        return driver.put(path + "/100/config", "tags=" + tags).reason;
    };
    const std::string refusal = "Permission check failed (/, Sys.Modify for modifying tag '";
    options["user-tag-access"] = "user-allow=none";
    CHECK(put("b%3Bc") == refusal + "c')");
    CHECK(put("c").starts_with(refusal));
    CHECK(put("b") == "OK");
    options["user-tag-access"] = "user-allow=list,user-allow-list=c";
    CHECK(put("b%3Bc") == "OK");
    options["user-tag-access"] = "user-allow=existing";
    CHECK(put("b") == "OK");
    CHECK(put("d") == refusal + "d')");
    options.erase("user-tag-access");
    CHECK(put("d%3Bb") == "OK");
    options["registered-tags"] = "d";
    CHECK(put("b") == refusal + "d')");
}

TEST_CASE("a clone is connected to the bridges of its template, and so needs SDN.Use there") {
    World world = default_world();
    world.custom_roles["KubeNodeSmith"].erase("SDN.Use");
    Driver driver(std::move(world));
    Machine source;
    source.vmid = 9000;
    source.node = "alfaromeo";
    source.config = {{"name", "t"}, {"template", "1"}, {"net0", "virtio=BC:24:11:00:00:01,bridge=vmbr0"}};
    driver.world().machines[9000] = source;
    auto refused = driver.post("/nodes/alfaromeo/qemu/9000/clone", "newid=100");
    CHECK(refused.reason == "Permission check failed (/sdn/zones/localnetwork/vmbr0, SDN.Use)");
}

TEST_CASE("a change that fails leaves what was written of it waiting, in an order of its own") {
    std::set<std::string> seen;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Driver driver(default_world(), seed);
        driver.finish(driver.post("/nodes/alfaromeo/qemu", "vmid=100&cores=1"));
        driver.world().options["user-tag-access"] = "user-allow=none";
        CHECK(driver.put("/nodes/alfaromeo/qemu/100/config", "cores=3&name=new&onboot=1&tags=a").status ==
              403);
        const auto& machine = driver.world().machines.at(100);
        CHECK(machine.config.at("cores") == "1");
        CHECK_FALSE(machine.pending.contains("tags"));
        for (const auto& [option, value] : machine.pending) seen.insert(option);
        const auto shown = driver.get("/nodes/alfaromeo/qemu/100/config").data();
        CHECK((shown.at("cores") == 3) == machine.pending.contains("cores"));
        // The next successful change also applies what waits.
        CHECK(driver.put("/nodes/alfaromeo/qemu/100/config", "onboot=0").status == 200);
        CHECK(driver.world().machines.at(100).pending.empty());
    }
    CHECK(seen == std::set<std::string>{"cores", "name", "onboot"});
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
    CHECK(driver.send(wish).status == 403);  // Pool.Allocate is missing, but the caller is identified
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
