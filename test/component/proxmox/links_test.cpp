// Tests templates that cannot be linked to.
#include "test/component/proxmox/template_world.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

using namespace providers;
using namespace test;

TEST_CASE("What cannot be linked to is copied, until the template has other disks") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    const auto asked = [&lab] {
        std::vector<std::string> modes;
        for (const auto& record : lab.log) {
            const bool is_clone = record.method == "POST" && record.path.ends_with("/clone");
            const auto* full = record.parameters.if_contains("full");
            if (is_clone) modes.emplace_back(full && full->as_string() == "1" ? "full" : "linked");
        }
        lab.log.clear();
        return modes;
    };
    lab.simulator.faults().add(
        "POST", ".*/clone",
        {.reason = "Linked clone feature is not supported for 'shared:base-9000-disk-0' (scsi0)"});
    lab.log.clear();
    auto first = lab.machine(1);
    lab.launch(first);
    CHECK(asked() == std::vector<std::string>{"linked", "full"});
    auto second = lab.machine(2);
    lab.launch(second);
    CHECK(asked() == std::vector<std::string>{"full"});

    auto& world = lab.simulator.cluster().world;
    auto& disk = world.machines.at(9000).config.at("scsi0");
    const auto before = disk.substr(0, disk.find(','));
    auto moved = *proxmox_simulator::find_volume(world, "alfaromeo", before);
    moved.name.replace(moved.name.find("disk-0"), 6, "disk-7");
    const auto after = proxmox_simulator::print_volume_id(
        "shared", proxmox_simulator::add_volume(world.storages.at("shared"), "alfaromeo", moved));
    disk = after + disk.substr(before.size());
    auto third = lab.machine(3);
    lab.launch(third);
    CHECK(asked() == std::vector<std::string>{"linked"});
}
