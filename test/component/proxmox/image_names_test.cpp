// Tests VMs that the list of guests does not show under their own names yet.
#include "test/component/proxmox/image_lab.hpp"

using namespace std::chrono_literals;
using test::ImageLab;

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
