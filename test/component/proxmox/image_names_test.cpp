// Tests VMs that the list of guests does not show under their own names yet.
#include "test/component/proxmox/image_lab.hpp"

using namespace std::chrono_literals;
using test::ImageLab;

TEST_CASE("A template of an image that somebody renamed is named, and asked for with pauses") {
    ImageLab lab;
    lab.config.spec.proxmox->nodeWhitelist = {"alfaromeo"};
    lab.restart();
    lab.settle();
    REQUIRE(lab.templates().size() == 1);
    const auto vmid = lab.templates().begin()->first;
    const auto name = lab.world().machines.at(vmid).config.at("name");
    lab.world().machines.at(vmid).config["name"] = "golden";
    lab.wait(15s);
    lab.log.clear();
    const auto health = lab.settle(5min);
    CHECK_THAT(health.template_message,
               Catch::Contains("VM " + std::to_string(vmid) + " on alfaromeo") && Catch::Contains("golden") &&
                   Catch::Contains("qm set " + std::to_string(vmid) + " --name " + name));
    CHECK(lab.count("GET", "/nodes/[a-z]+/tasks") < 60);
    CHECK(lab.count("POST", "/nodes/[a-z]+/qemu") == 0);
    lab.world().machines.at(vmid).config["name"] = name;
    lab.wait(15s);
    CHECK(lab.settle(15min).template_message == "");
}

TEST_CASE("A new VM is known by its task while the list shows the name of whoever had its ID before") {
    ImageLab lab;
    for (const int vmid : {1997, 1998, 1999})
        lab.plant(vmid, "zagato", {{"name", "predecessor-" + std::to_string(vmid)}});
    lab.wait(15s);
    for (const int vmid : {1997, 1998, 1999}) lab.world().machines.erase(vmid);
    lab.settle();
    CHECK(lab.templates().size() == 3);
    CHECK(lab.unfinished() == 0);
    CHECK(lab.count("POST", "/nodes/[a-z]+/qemu") == 3);
}
