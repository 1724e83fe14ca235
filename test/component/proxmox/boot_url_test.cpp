// Tests machines that fetch their boot data. Their SMBIOS serial number holds the URL.
#include "providers/proxmox/wire/property_string.hpp"
#include "test/component/proxmox/template_world.hpp"

using namespace providers;
using namespace test;

namespace {

std::string serial(Lab& lab, const MachineSpec& spec) {
    return lab.simulator.cluster().view(*lab.vm(spec)).smbios_serial;
}

std::string place(const MachineSpec& spec) {
    return "ds=nocloud;dsmode=net;s=http://10.0.0.9:8082/" + spec.record.machine_id + "-0123456789abcdef/";
}

std::size_t images_touched(const Lab& lab) {
    return lab.count("POST", ".*/upload") + lab.count("DELETE", "/nodes/[^/]+/storage/.*");
}

}  // namespace

TEST_CASE("A blank machine is told where its boot data is, and no image is uploaded or looked for") {
    Lab lab;
    auto spec = lab.machine(1);
    spec.boot_image = &lab.served;
    lab.launch(spec);
    CHECK(serial(lab, spec) == place(spec));
    CHECK(lab.simulator.cluster().view(*lab.vm(spec)).uuid == spec.identity.system_uuid);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(images_touched(lab) == 0);
}

TEST_CASE("A clone is told where its boot data is, and its template's cloud-init drive is taken away") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    auto spec = lab.machine(1);
    spec.boot_image = &lab.served;
    lab.launch(spec);
    CHECK(serial(lab, spec) == place(spec));
    CHECK_FALSE(lab.vm(spec)->config.contains("ide2"));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(images_touched(lab) == 0);
}

TEST_CASE("A machine that fetches its boot data costs fewer requests than one with an image") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    auto first = lab.machine(1);
    first.boot_image = &lab.served;
    lab.launch(first);
    lab.wait(11s);  // the cached state of the cluster is outdated then
    lab.requests();
    auto second = lab.machine(2);
    second.boot_image = &lab.served;
    lab.launch(second);
    const auto requests = lab.requests();
    INFO(Catch::Detail::stringify(requests));
    // One request looks for volumes with the chosen ID, and one reads which volumes were made, to record
    // them.
    CHECK(requests.size() <= 11);
}

TEST_CASE("What the user wants in the SMBIOS tables is there beside the place of the boot data") {
    Lab lab;
    lab.config.spec.proxmox->vmOptions.push_back({"smbios1", "manufacturer=Acme,serial=42"});
    lab.restart();
    auto spec = lab.machine(1);
    spec.boot_image = &lab.served;
    lab.launch(spec);
    CHECK(serial(lab, spec) == place(spec));
    const auto smbios = proxmox::PropertyString::parse(lab.vm(spec)->config.at("smbios1"));
    CHECK(smbios.find("manufacturer") == "QWNtZQ==");
    CHECK(smbios.find("base64") == "1");
    auto plain = lab.machine(2);
    lab.launch(plain);
    CHECK(serial(lab, plain) == "42");
}

TEST_CASE("A restart after any step ends in one machine that knows its place") {
    for (const bool is_clone : {false, true}) {
        for (const auto& death : deaths(8)) {
            INFO((is_clone ? "a clone " : "a blank machine ") << death.str());
            Lab lab(is_clone ? world_with_template("shared") : proxmox_simulator::default_world());
            if (is_clone) use_template(lab, named("debian"));
            auto spec = lab.machine(1);
            spec.boot_image = &lab.served;
            lab.launch_through(spec, death);
            CHECK(lab.vm(spec)->running);
            CHECK(serial(lab, spec) == place(spec));
            CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
            CHECK(lab.simulator.cluster().world.machines.size() == (is_clone ? 1 : 0));
        }
    }
}
