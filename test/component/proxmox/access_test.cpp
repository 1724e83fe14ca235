// Tests rights and endpoints, and the messages to a user whose settings are wrong.
#include <iterator>
#include <regex>
#include <sstream>

#include "providers/errors.hpp"
#include "test/component/proxmox/lab.hpp"
#include "test/simulators/proxmox/core/access.hpp"

using namespace providers;
using namespace std::chrono_literals;
using Catch::Contains;
using test::Lab;

namespace {

Health check(Lab& lab) {
    return lab.run(lab.provider->check());
}

}  // namespace

TEST_CASE("A cluster that is configured rightly is healthy") {
    Lab lab;
    const auto health = check(lab);
    INFO(health.message);
    CHECK(health.reachable);
    CHECK(health.credentials_ok);
    CHECK(health.version == "9.2.11");
}

TEST_CASE("A wrong token is named without its secret, and the server is not hammered with it") {
    Lab lab;
    lab.config.credentials["PROXMOX_SECRET"] = "0badc0de-0000-0000-0000-000000000000";
    std::vector<std::string> refused;
    lab.environment.on_credentials_refused = [&](const std::string& provider) {
        refused.push_back(provider);
    };
    lab.restart();
    const auto health = check(lab);
    CHECK(health.reachable);  // Proxmox answered, with a refusal
    CHECK_FALSE(health.credentials_ok);
    CHECK(health.reason == "AuthenticationFailed");
    CHECK_THAT(health.message, Contains("API token automation@pve!kubenodesmith") &&
                                   Contains("PROXMOX_SECRET") && !Contains("0badc0de"));
    const auto sent = lab.log.size();
    check(lab);
    CHECK(lab.log.size() == sent);
    CHECK(refused == std::vector<std::string>{lab.config.namespace_ + "/" + lab.config.name});
    auto spec = lab.machine(1);
    CHECK(std::holds_alternative<NotReady>(lab.ensure(spec)));
}

TEST_CASE("A missing privilege is named with its path") {
    auto world = proxmox_simulator::default_world();
    world.custom_roles["KubeNodeSmith"].erase("VM.PowerMgmt");
    world.custom_roles["KubeNodeSmith"].erase("SDN.Use");
    Lab lab(world);
    const auto health = check(lab);
    CHECK(health.reachable);
    CHECK_FALSE(health.credentials_ok);
    CHECK(health.reason == "MissingPrivileges");
    CHECK_THAT(health.message,
               Contains("VM.PowerMgmt on /vms") && Contains("SDN.Use on /sdn/zones/localnetwork/vmbr0"));
}

TEST_CASE("The commands that a missing privilege is named with grant it, and take nothing away") {
    auto world = proxmox_simulator::default_world();
    world.custom_roles["KubeNodeSmith"].erase("VM.PowerMgmt");
    world.custom_roles["KubeNodeSmith"].erase("SDN.Use");
    world.custom_roles["KubeNodeSmith"].erase("Datastore.AllocateTemplate");
    const std::string user = "automation@pve", token = user + "!kubenodesmith";
    const bool is_separated = GENERATE(false, true);
    INFO(is_separated);
    if (is_separated) {
        world.tokens[token].separated = true;
        world.acl = {{"/", "user", user, "Administrator", true},
                     {"/", "token", token, "KubeNodeSmith", true}};
    }
    Lab lab(world);
    const auto before = check(lab);
    REQUIRE(before.reason == "MissingPrivileges");
    CHECK_THAT(
        before.boot_image_obstacle,
        Contains("; to grant it, as root: pveum role add "
                 "KubeNodeSmith-automation-pve-kubenodesmith-storage-local 2>/dev/null; pveum role modify "
                 "KubeNodeSmith-automation-pve-kubenodesmith-storage-local --append 1 -privs '") &&
            Contains("--users automation@pve instead of --tokens") && Contains("--privsep 0"));
    const std::regex command(
        "pveum role add (\\S+) 2>/dev/null; pveum role modify \\1 --append 1 -privs '([^']+)' && pveum acl "
        "modify (\\S+) --roles (\\S+) --tokens '([^']+)'");
    const auto text = before.message + "; " + before.boot_image_obstacle;
    auto& granted = lab.simulator.cluster().world;
    const auto rights_of_user = [&](const std::string& path) {
        return proxmox_simulator::permissions(granted, user, path);
    };
    for (std::sregex_iterator found(text.begin(), text.end(), command), end; found != end; ++found) {
        std::istringstream privileges((*found)[2].str());
        auto& role = granted.custom_roles[(*found)[1]];
        role.insert(std::istream_iterator<std::string>(privileges), {});
        CHECK((*found)[4] == (*found)[1]);
        CHECK((*found)[5] == token);
        const auto had = rights_of_user((*found)[3]);
        granted.acl.push_back(
            {(*found)[3], is_separated ? "token" : "user", is_separated ? token : user, (*found)[4], true});
        for (const auto& [privilege, propagates] : had)
            CHECK(rights_of_user((*found)[3]).contains(privilege));
    }
    const auto after = check(lab);
    CHECK(after.message == "");
    CHECK(after.boot_image_obstacle == "");
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.launch(spec);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("A configuration that can work on no host is named with the remedy before anything is made") {
    Lab lab;
    auto& spec = *lab.config.spec.proxmox;
    std::string fault;
    SECTION("a resource pool that does not exist") {
        spec.resourcePool = "k8s";
        fault =
            "resource pool k8s does not exist: create it (pveum pool add k8s), or name another in "
            "spec.proxmox.resourcePool";
    }
    SECTION("a storage that does not exist") {
        spec.vmOptions = {{"scsi0", "local-zfs:8"}};
        fault =
            "storage local-zfs does not exist or is disabled: name another in spec.proxmox.vmOptions (scsi0)";
    }
    SECTION("hosts that do not exist") {
        spec.nodeWhitelist = {"alfa"};
        fault = "no host that spec.proxmox.nodeWhitelist names exists: there are alfaromeo, porsche, zagato";
    }
    SECTION("nothing") {
        spec.resourcePool = "kubernetes";
    }
    lab.restart();
    const auto health = check(lab);
    CHECK(health.reachable);
    CHECK(health.configuration_fault == fault);
    CHECK(health.not_visible.empty());
    CHECK(lab.count("POST", ".*") == 0);
}

TEST_CASE("What the token may not see of the configuration is said, not called missing") {
    auto world = proxmox_simulator::default_world();
    world.custom_roles["KubeNodeSmith"].erase("Pool.Audit");
    Lab lab(world);
    lab.config.spec.proxmox->resourcePool = "kubernetes";
    lab.restart();
    const auto health = check(lab);
    CHECK(health.configuration_fault.empty());
    CHECK(health.not_visible ==
          "whether resource pool kubernetes exists is not visible without Pool.Audit on /pool/kubernetes");
}

TEST_CASE("Without a look at the cluster's name providerIDs have the Provider's, and it says so") {
    auto world = proxmox_simulator::default_world();
    world.custom_roles["Hosts"] = {"Sys.Audit"};
    world.custom_roles["KubeNodeSmith"].erase("Sys.Audit");
    world.acl.push_back({"/nodes", "user", "automation@pve", "Hosts", true});
    Lab lab(world);
    lab.config.name = "homelab";
    lab.restart();
    const auto health = check(lab);
    CHECK(health.message == "");
    CHECK(health.not_visible ==
          "whether the cluster has quorum is not visible without Sys.Audit on /; the cluster's name is not "
          "visible without Sys.Audit on /, so providerIDs of new machines begin with "
          "proxmox://homelab/vms/");
    auto spec = lab.machine(1);
    CHECK(lab.launch(spec).provider_id == "proxmox://homelab/vms/" + spec.record.machine_id);
    lab.config.spec.proxmox->vmIDRange.reset();
    lab.restart();
    CHECK_THAT(check(lab).not_visible, Contains("(next-id) is not visible without Sys.Audit on /"));
}

TEST_CASE("What one host lacks of the configuration is said of that host, with the remedy") {
    auto world = proxmox_simulator::default_world();
    world.hosts[0].bridges.push_back({"vmbr1", "10.9.0.1/24", "eno2"});
    Lab lab(world);
    lab.config.spec.proxmox->networkInterfaces[0].bridge = "vmbr1";
    lab.restart();
    const auto offerings = lab.run(lab.provider->offerings());
    REQUIRE(offerings.size() == 3);
    CHECK(offerings[0].usable);
    CHECK(offerings[0].remedy.empty());
    for (const auto i : {1u, 2u}) {
        CHECK(offerings[i].why_not == "has no bridge vmbr1");
        CHECK(offerings[i].remedy == "create it there, or name another in spec.proxmox.networkInterfaces");
    }
    // An administrator who adds the bridge does not wait long.
    lab.simulator.cluster().world.hosts[1].bridges.push_back({"vmbr1", "", "eno2"});
    lab.wait(std::chrono::seconds{45});
    CHECK(lab.run(lab.provider->offerings())[1].usable);
}

TEST_CASE("A VMID range that others have used up is a mistake, one that is full of our machines is not") {
    Lab lab;
    lab.config.spec.proxmox->vmIDRange = api::v1alpha1::VMIDRange{5000, 5000};
    lab.restart();
    const auto check_hosts = [&](const std::string& why_not, const std::string& remedy) {
        lab.wait(std::chrono::seconds{15});
        for (const auto& host : lab.run(lab.provider->offerings())) {
            CHECK_FALSE(host.usable);
            CHECK(host.why_not == why_not);
            CHECK(host.remedy == remedy);
        }
    };
    SECTION("others") {
        lab.plant(5000, "porsche", {{"name", "somebody"}});
        check_hosts("all VMIDs from 5000 to 5000 are taken", "widen spec.proxmox.vmIDRange");
    }
    SECTION("ours") {
        auto spec = lab.machine(1);
        lab.launch(spec);
        check_hosts("all VMIDs from 5000 to 5000 are taken; widen spec.proxmox.vmIDRange", "");
    }
}

TEST_CASE("A token that may act in its pool only makes its machines in the pool") {
    auto world = proxmox_simulator::default_world();
    const auto all = world.custom_roles["KubeNodeSmith"];
    world.custom_roles["Rest"] = {"Sys.Audit", "SDN.Use", "Datastore.Audit", "Datastore.AllocateSpace"};
    world.acl = {{"/", "user", "automation@pve", "Rest", true},
                 {"/pool/kubernetes", "user", "automation@pve", "KubeNodeSmith", true}};
    Lab lab(world);
    lab.config.spec.proxmox->resourcePool = "kubernetes";
    lab.config.spec.proxmox->cloudInit.reset();
    lab.restart();
    CHECK(check(lab).message == "");
    auto spec = lab.machine(1);
    lab.launch(spec);
    CHECK(
        lab.simulator.cluster().world.pools.at("kubernetes").vms.contains(std::stoi(spec.record.machine_id)));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("What Proxmox permits no more is tried with growing pauses") {
    const auto is_release = GENERATE(false, true);
    INFO(is_release);
    Lab lab;
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.launch(spec);
    auto& privileges = lab.simulator.cluster().world.custom_roles["KubeNodeSmith"];
    const std::string privilege = is_release ? "VM.Config.Options" : "Datastore.Allocate";
    privileges.erase(privilege);
    lab.log.clear();
    const auto try_once = [&] {
        return is_release ? lab.run(lab.provider->release(spec.identity, spec.record))
                          : lab.run(lab.provider->discard_boot_image(spec.identity, spec.record));
    };
    for (int second = 0; second < 68; ++second) {
        try {
            const bool is_done = try_once();
            CHECK_FALSE(is_done);
        } catch (const ProviderError& error) {
            CHECK_THAT(error.what(), Contains(privilege));
        }
        lab.wait(1s);
    }
    const auto refused = is_release ? lab.count("PUT", ".*/config") : lab.count("DELETE", ".*/content/.*");
    CHECK(refused >= 3);
    CHECK(refused <= 6);
    privileges.insert(privilege);
    bool is_done = false;
    for (int second = 0; second < 90 && !is_done; ++second) {
        lab.wait(1s);
        is_done = try_once();
    }
    CHECK(is_done);
}

TEST_CASE(
    "A creation and a removal that Proxmox permits no more are tried with growing pauses, whoever calls") {
    const auto is_removal = GENERATE(false, true);
    INFO(is_removal);
    Lab lab;
    auto spec = lab.machine(1);
    if (is_removal)
        lab.launch(spec);
    else
        lab.place(spec);
    auto& privileges = lab.simulator.cluster().world.custom_roles["KubeNodeSmith"];
    const std::string privilege = is_removal ? "VM.PowerMgmt" : "VM.Allocate";
    privileges.erase(privilege);
    lab.log.clear();
    for (int second = 0; second < 68; ++second) {
        if (is_removal) {
            const auto result = lab.run(lab.provider->remove(spec.identity, spec.record, {}));
            REQUIRE(std::holds_alternative<RemovalBlocked>(result));
            CHECK(std::get<RemovalBlocked>(result).reason == "MissingPrivileges");
            CHECK_THAT(std::get<RemovalBlocked>(result).message, Contains(privilege));
        } else {
            const auto result = lab.ensure(spec);
            REQUIRE(std::holds_alternative<NotReady>(result));
            CHECK_THAT(std::get<NotReady>(result).message, Contains("Permission check failed"));
        }
        lab.wait(1s);
    }
    const auto refused = lab.count("POST", is_removal ? ".*/status/shutdown" : ".*/qemu");
    CHECK(refused >= 2);
    CHECK(refused <= 3);
}

TEST_CASE("A machine whose boot image may not be deleted is not called gone, and the right is named") {
    const auto is_registered = GENERATE(false, true);
    INFO(is_registered);
    Lab lab;
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.launch(spec);
    auto& privileges = lab.simulator.cluster().world.custom_roles["KubeNodeSmith"];
    privileges.erase("Datastore.Allocate");
    // The drive is empty from then on.
    if (is_registered)
        CHECK_THROWS_WITH(lab.run(lab.provider->discard_boot_image(spec.identity, spec.record)),
                          Contains("(/storage/local, Datastore.Allocate)"));
    const auto result = lab.destroy(spec);
    REQUIRE(std::holds_alternative<RemovalBlocked>(result));
    CHECK(std::get<RemovalBlocked>(result).reason == "MissingPrivileges");
    CHECK_THAT(std::get<RemovalBlocked>(result).message, Contains("(/storage/local, Datastore.Allocate)"));
    CHECK(lab.vm(spec));
    privileges.insert("Datastore.Allocate");
    lab.wait(31s);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    for (const auto& [host, volumes] : lab.simulator.cluster().world.storages.at("local").volumes)
        CHECK(volumes.empty());
}

TEST_CASE("A machine that cannot be seen any more is not made a second time under another ID") {
    auto world = proxmox_simulator::default_world();
    Lab lab(world);
    lab.config.spec.proxmox->resourcePool = "kubernetes";
    lab.restart();
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto placed = spec.record;
    lab.step(spec);
    lab.wait(std::chrono::seconds{10});
    spec.record = placed;
    check(lab);  // reads the rights, which are cached for some minutes
    auto& privileges = lab.simulator.cluster().world.custom_roles["KubeNodeSmith"];
    privileges.erase("VM.Audit");
    const auto result = lab.ensure(spec);
    REQUIRE(std::holds_alternative<NotReady>(result));
    CHECK_THAT(std::get<NotReady>(result).message, Contains("needs VM.Audit on the operator's machines"));
    privileges.insert("VM.Audit");
    lab.launch(spec);
    CHECK(spec.record.machine_id == placed.machine_id);
    CHECK(lab.simulator.cluster().world.machines.size() == 1);
}

TEST_CASE("A user with a password works by tickets, which are renewed") {
    Lab lab;
    lab.config.credentials = {{"PROXMOX_USERNAME", "automation@pve"}, {"PROXMOX_PASSWORD", "automation"}};
    lab.restart();
    auto spec = lab.machine(1);
    lab.launch(spec);
    CHECK(lab.count("POST", "/access/ticket") == 1);
    lab.wait(std::chrono::hours{3});
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.count("POST", "/access/ticket") == 2);
}

TEST_CASE("A wrong password is named as such") {
    Lab lab;
    lab.config.credentials = {{"PROXMOX_USERNAME", "automation@pve"}, {"PROXMOX_PASSWORD", "hunter2"}};
    lab.restart();
    const auto health = check(lab);
    CHECK(health.reason == "AuthenticationFailed");
    CHECK_THAT(health.message,
               Contains("automation@pve") && Contains("PROXMOX_PASSWORD") && !Contains("hunter2"));
}

TEST_CASE("When the first endpoint is down another one serves") {
    Lab lab;
    lab.simulator.cluster().power_off_host("alfaromeo");
    lab.wait(std::chrono::seconds{30});
    CHECK(check(lab).reachable);
    auto spec = lab.machine(1);
    lab.launch(spec);
    CHECK(spec.record.host != "alfaromeo");
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("When no endpoint answers the provider is unreachable, and says which address") {
    Lab lab;
    for (const auto* host : {"alfaromeo", "porsche", "zagato"}) lab.simulator.cluster().power_off_host(host);
    const auto health = check(lab);
    CHECK_FALSE(health.reachable);
    CHECK(health.reason == "Unreachable");
    CHECK_THAT(health.message, Contains("check host and port of spec.proxmox.endpoint"));
    auto spec = lab.machine(1);
    CHECK(std::holds_alternative<NotReady>(lab.ensure(spec)));
}
