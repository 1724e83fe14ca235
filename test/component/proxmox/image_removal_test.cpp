// Templates that were made from an image are removed when they are no longer needed, and so are their
// downloads.
#include "base/url.hpp"
#include "test/component/proxmox/image_lab.hpp"

using namespace providers;
using namespace std::chrono_literals;
using Catch::Contains;
using test::ImageLab;

namespace {

// Makes the deletion of downloaded files fail until the faults are cleared.
void keep_files(ImageLab& lab) {
    lab.world().storages.at("local").content.insert("import");
    lab.simulator.faults().add_task("imgdel", ".*",
                                    {proxmox_simulator::TaskTrouble::fail_at_once, "it is in use", ""}, 1000);
}

// Clones a VM as somebody else would. Without a name Proxmox chooses one.
void clone_by_person(ImageLab& lab, int source, int vmid, const std::string& name) {
    lab.world().tokens["automation@pve!person"] = {"person", "automation@pve", "a-secret", false, 0, ""};
    const auto& host = lab.world().machines.at(source).node;
    base::HttpRequest request;
    request.method = "POST";
    request.target = "/api2/json/nodes/" + host + "/qemu/" + std::to_string(source) + "/clone";
    request.headers.set("Authorization", "PVEAPIToken=automation@pve!person=a-secret");
    request.headers.set("Content-Type", "application/x-www-form-urlencoded");
    base::FormFields fields{{"newid", std::to_string(vmid)}, {"full", "1"}};
    if (!name.empty()) fields.emplace_back("name", name);
    request.body = base::encode_form(fields);
    const auto response = lab.run(lab.simulator.handle(std::move(request), host));
    REQUIRE(response.status == 200);
    lab.wait(2min);
    REQUIRE(lab.vm(std::to_string(vmid)) != nullptr);
}

}  // namespace

TEST_CASE("What has the name of a template of ours and not our mark is neither cloned nor removed") {
    ImageLab lab;
    lab.settle();
    const auto name = lab.world().machines.at(lab.templates().begin()->first).config.at("name");
    ImageLab other;
    other.plant(150, "porsche", {{"name", name}, {"template", "1"}, {"scsi0", "local:base-150-disk-0"}});
    other.plant(151, "zagato", {{"name", name.substr(0, name.size() - 4) + "0000"}});
    other.settle();
    CHECK(other.templates().size() == 4);
    CHECK(other.vm("150") != nullptr);
    CHECK(other.vm("151") != nullptr);
    other.config.spec.proxmox->nodeWhitelist = {"porsche"};
    other.restart();
    other.settle();
    auto spec = other.machine(1);
    other.launch(spec);
    CHECK(other.count("POST", "/nodes/porsche/qemu/150/clone") == 0);
    CHECK(other.run(other.provider->capabilities().dismantler->dismantle()) != "");
    other.wait(5min);
    CHECK(other.vm("150") != nullptr);
    CHECK(other.vm("151") != nullptr);
}

// A clone keeps its source's description and so its mark, and a person chooses its name.
TEST_CASE("A VM that a person cloned from a template of ours stays, whatever its name") {
    ImageLab lab;
    lab.settle();
    const auto vmid = lab.templates().begin()->first;
    const auto name = lab.world().machines.at(vmid).config.at("name");
    clone_by_person(lab, vmid, 150, name + "-debug");
    clone_by_person(lab, vmid, 151, name);
    clone_by_person(lab, vmid, 152, "");
    lab.wait(1min);
    lab.settle();
    CHECK(lab.vm("150") != nullptr);
    CHECK(lab.vm("151") != nullptr);
    lab.publish("debian 12.9");
    lab.settle();
    auto& dismantler = *lab.provider->capabilities().dismantler;
    for (int i = 0; i < 30; ++i) {
        lab.run(dismantler.dismantle());
        lab.wait(3s);
    }
    for (const auto* id : {"150", "151", "152"}) {
        REQUIRE(lab.vm(id) != nullptr);
        CHECK_FALSE(lab.vm(id)->config.contains("template"));
    }
}

TEST_CASE("Templates go with their provider, each asked for once") {
    ImageLab lab;
    lab.settle();
    lab.log.clear();
    auto& dismantler = *lab.provider->capabilities().dismantler;
    int looks = 0;
    // The provider is examined during all of this time.
    for (; lab.run(dismantler.dismantle()) != "" && looks < 30; ++looks) {
        lab.check();
        lab.wait(3s);
    }
    CHECK(looks < 12);
    CHECK(lab.world().machines.empty());
    CHECK(lab.count("DELETE", "/nodes/[^/]+/qemu/.*") == 3);
}

TEST_CASE("A template whose destruction hangs when the operator dies is waited for, and named in the end") {
    ImageLab lab;
    lab.settle();
    lab.simulator.faults().add_task("qmdestroy", ".*", {proxmox_simulator::TaskTrouble::hang, ""});
    lab.run(lab.provider->capabilities().dismantler->dismantle());
    lab.wait(1min);
    lab.restart();
    auto& finder = *lab.provider->capabilities().leftover_finder;
    const auto under_way = lab.run(finder.under_way());
    REQUIRE(under_way.size() == 1);
    CHECK(under_way[0].is_removal);
    CHECK_THAT(under_way[0].message, Contains("which a task is still destroying"));
    CHECK(lab.run(finder.leftovers()).found.empty());
    lab.wait(16min);
    lab.run(finder.leftovers());
    lab.wait(1min);
    CHECK(lab.run(finder.under_way()).empty());
    const auto left = lab.run(finder.leftovers()).found;
    REQUIRE(left.size() == 1);
    CHECK_THAT(left[0].message, Contains("is locked (destroyed) by a task of the operator that died"));
}

TEST_CASE("A provider that is deleted waits for a host that is offline, as its templates are there") {
    ImageLab lab;
    lab.settle();
    auto& dismantler = *lab.provider->capabilities().dismantler;
    auto& host = lab.world().hosts.back();
    host.powered_on = false;
    host.powered_off_at = lab.clock.now();
    lab.wait(2min);
    std::string left;
    const auto dismantle = [&] {
        for (int i = 0; i < 30; ++i) {
            left = lab.run(dismantler.dismantle());
            lab.wait(3s);
        }
    };
    dismantle();
    CHECK_THAT(left, Contains("host " + host.name + " is offline and may have templates"));
    host.powered_on = true;
    host.booted_at = lab.clock.now();
    lab.wait(1min);
    dismantle();
    CHECK(left.empty());
    CHECK(lab.world().machines.empty());
    CHECK(lab.files().empty());
}

TEST_CASE("A downloaded file that cannot be deleted is tried with growing pauses, and named") {
    ImageLab lab;
    keep_files(lab);
    lab.settle(2s);
    lab.wait(1min);
    lab.settle(2s);
    lab.log.clear();
    REQUIRE_FALSE(lab.files().empty());
    auto& dismantler = *lab.provider->capabilities().dismantler;
    std::string left;
    for (int i = 0; i < 1200; ++i) {
        left = lab.run(dismantler.dismantle());
        lab.wait(3s);
    }
    CHECK_THAT(left, Contains("it is in use") && Contains("import/"));
    CHECK(lab.count("DELETE", "/nodes/[^/]+/storage/.*") < 40);
    lab.simulator.faults().clear();
    for (int i = 0; i < 400 && !left.empty(); ++i) {
        left = lab.run(dismantler.dismantle());
        lab.wait(3s);
    }
    CHECK(left == "");
    CHECK(lab.files().empty());
}

TEST_CASE("Downloaded files go with their provider though a template cannot") {
    ImageLab lab;
    keep_files(lab);
    lab.settle(1min);
    REQUIRE_FALSE(lab.files().empty());
    lab.simulator.faults().clear();
    proxmox_simulator::RequestFault refused;
    refused.status = 500;
    lab.simulator.faults().add("DELETE", "/nodes/[^/]+/qemu/.*", refused, 1000);
    auto& dismantler = *lab.provider->capabilities().dismantler;
    for (int i = 0; i < 400 && !lab.files().empty(); ++i) {
        CHECK(lab.run(dismantler.dismantle()) != "");
        lab.wait(3s);
    }
    CHECK(lab.files().empty());
    CHECK(lab.templates().size() == 3);
}

TEST_CASE("A downloaded file goes although its host cannot be asked, or is down, when its template is made") {
    ImageLab lab;
    proxmox_simulator::RequestFault fault;
    fault.status = 596;
    fault.reason = "Connection timed out";
    const std::string files = "/nodes/porsche/storage/local/content";
    SECTION("the list of files cannot be read") {
        lab.simulator.faults().add("GET", files, fault, 3);
    }
    SECTION("the deletion is refused") {
        lab.simulator.faults().add("DELETE", files + "/.*", fault, 3);
    }
    SECTION("the host is down, and comes back") {
        lab.simulator.faults().add("GET", files, fault, 20);
        lab.settle(1min);
        lab.simulator.cluster().power_off_host("porsche");
        lab.wait(5min);
        lab.simulator.faults().clear();
        lab.settle(10min);
        lab.simulator.cluster().power_on_host("porsche");
        lab.wait(1min);
    }
    lab.settle(30min);
    CHECK(lab.templates().size() == 3);
    CHECK(lab.files().empty());
}

TEST_CASE("Templates go with their provider, and what is linked to them is named") {
    ImageLab lab;
    lab.settle();
    auto spec = lab.machine(1);
    const auto host = lab.launch(spec).record.host;
    auto& dismantler = *lab.provider->capabilities().dismantler;
    std::string left;
    for (int i = 0; i < 20; ++i) {
        left = lab.run(dismantler.dismantle());
        lab.wait(1s);
    }
    CHECK_THAT(left, Contains("on " + host) && Contains("are linked to its disk"));
    CHECK(lab.templates().size() == 1);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    lab.wait(2min);
    for (int i = 0; i < 20 && !left.empty(); ++i) {
        left = lab.run(dismantler.dismantle());
        lab.wait(1s);
    }
    CHECK(left == "");
    CHECK(lab.world().machines.empty());
    CHECK(lab.files().empty());
}

TEST_CASE("A provider that turns to a template of its user's takes its own away") {
    ImageLab lab;
    lab.settle();
    lab.plant(9000, "alfaromeo",
              {{"name", "debian"}, {"template", "1"}, {"scsi0", "local:base-9000-disk-0"}});
    test::use_template(lab, test::named("debian"));
    lab.settle();
    CHECK(lab.templates().empty());
    CHECK(lab.vm("9000") != nullptr);
}
