// Tests what a guest finds when it boots.
#include "bootstrap/iso_image.hpp"
#include "test/simulators/proxmox/guest/seed.hpp"
#include "test/support/catch.hpp"
#include "test/unit/proxmox_simulator/driver.hpp"

namespace proxmox_simulator::test {
namespace {

class Recorder final : public MachineHooks {
public:
    void on_machine_started(const MachineView& machine) override { started.push_back(machine); }
    void on_machine_stopped(const MachineView& machine) override { stopped.push_back(machine.vmid); }
    void on_machine_destroyed(const MachineView& machine) override { destroyed.push_back(machine.vmid); }
    asio::awaitable<GuestCommandResult> run(MachineView machine, GuestCommand command) override {
        GuestCommandResult result;
        result.exit_code = 3;
        result.output = machine.name + " got " + command.input;
        co_return result;
    }

    std::vector<MachineView> started;
    std::vector<int> stopped, destroyed;
};

struct Fixture : Driver {
    Fixture() { cluster().hooks = &recorder; }
    ~Fixture() { cluster().hooks = nullptr; }
    Recorder recorder;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a started machine is shown to the hook as its guest sees it") {
    finish(post("/nodes/porsche/qemu",
                "vmid=100&name=w&cores=4&sockets=2&memory=8192&boot=order%3Dnet0&net0=virtio%2Cbridge%3Dvmbr0"
                "&smbios1=uuid%3DAAAAAAAA-2222-4333-8444-555555555555%2Cbase64%3D1%2Cserial%"
                "3DZHM9bm9jbG91ZDtkc21vZGU9bmV0O3M9aHR0cDovL2EvYi8%3D"));
    finish(post("/nodes/porsche/qemu/100/status/start"));
    REQUIRE(recorder.started.size() == 1);
    const auto& machine = recorder.started[0];
    CHECK(machine.cpus == 8);
    CHECK(machine.memory_mib == 8192);
    CHECK(machine.uuid == "aaaaaaaa-2222-4333-8444-555555555555");
    CHECK(machine.boot_order == std::vector<std::string>{"net0"});
    CHECK(seed_url(machine.smbios_serial) == "http://a/b/");
    finish(post("/nodes/porsche/qemu/100/status/stop"));
    finish(remove("/nodes/porsche/qemu/100"));
    CHECK(recorder.stopped == std::vector<int>{100});
    CHECK(recorder.destroyed == std::vector<int>{100});
}

TEST_CASE("a guest finds its seed on the web only as the oldest cloud-init does") {
    CHECK(seed_url("ds=nocloud;dsmode=net;s=https://a/b/") == "https://a/b/");
    CHECK(seed_url("ds=nocloud-net;s=http://a/b/") == "http://a/b/");
    CHECK(seed_url("ds=nocloud;s=http://a/b/").empty());
    CHECK(seed_url("ds=nocloud;dsmode=net;s=http://a/b").empty());
    CHECK(seed_url("s=http://a/b/;ds=nocloud;dsmode=net").empty());
    CHECK(seed_url("dsx=nocloud;dsmode=net;s=http://a/b/").empty());
    CHECK(seed_url("").empty());
}

TEST_CASE_METHOD(Fixture, "the generated cloud-init drive holds what was set when the machine started") {
    finish(post("/nodes/porsche/qemu", "vmid=100&name=w&ide2=local%3Acloudinit&ciuser=kube&ciupgrade=0"));
    finish(post("/nodes/porsche/qemu/100/status/start"));
    const auto& seed = recorder.started.at(0).cloudinit_drive;
    REQUIRE(seed);
    CHECK(seed->user_data.find("user: kube\n") != std::string::npos);
    CHECK(seed->meta_data.starts_with("instance-id: "));
}

TEST_CASE_METHOD(Fixture, "a custom snippet takes the place of the generated user-data") {
    auto& volumes = world().storages.at("shared").volumes[""];
    volumes["snippets/u.yaml"] = {"snippets/u.yaml", "snippets", "snippet", 3, 3, std::nullopt, "", 0, "own"};
    finish(post("/nodes/porsche/qemu",
                "vmid=100&ide2=local%3Acloudinit&cicustom=user%3Dshared%3Asnippets%2Fu.yaml"));
    finish(post("/nodes/porsche/qemu/100/status/start"));
    CHECK(recorder.started.at(0).cloudinit_drive->user_data == "own");
}

TEST_CASE_METHOD(Fixture, "a command's output and exit code come from the guest") {
    finish(post("/nodes/porsche/qemu", "vmid=100&name=w&agent=1"));
    finish(post("/nodes/porsche/qemu/100/status/start"));
    wait(5s);
    auto pid = post("/nodes/porsche/qemu/100/agent/exec", "command=sh&command=-s&input-data=true")
                   .data()
                   .at("pid")
                   .as_int64();
    wait(1s);
    auto status = get("/nodes/porsche/qemu/100/agent/exec-status?pid=" + std::to_string(pid)).data();
    CHECK(status.at("exitcode") == 3);
    CHECK(status.at("out-data") == "w got true");
}

TEST_CASE("a seed image is read back as it was written") {
    bootstrap::Seed seed{"#cloud-config\n{}", "instance-id: a\n", ""};
    auto files = read_seed_image(bootstrap::nocloud_image(seed));
    REQUIRE(files);
    CHECK(files->user_data == "#cloud-config\n{}");
    CHECK(files->meta_data == "instance-id: a\n");
    CHECK(files->network_config.empty());
    CHECK_FALSE(read_seed_image("no image at all"));
}

}  // namespace proxmox_simulator::test
