// POST .../template: the machine becomes a template for good, and its disks become base volumes.
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/qemu.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

void make_base(Cluster& cluster, Machine& machine, const std::string& option, Drive drive) {
    auto id = parse_volume_id(drive.volume);
    auto& volumes = volumes_on(find_storage(cluster.world, id.storage), machine.node);
    auto volume = volumes.extract(id.name);
    if (volume.empty()) throw failure("volume '" + drive.volume + "' does not exist");
    auto position = volume.mapped().name.rfind("vm-");
    volume.mapped().name.replace(position, 3, "base-");
    volume.key() = volume.mapped().name;
    drive.properties["file"] = print_volume_id(id.storage, volume.mapped());
    volumes.insert(std::move(volume));
    machine.config[option] = print_properties(property_group(drive_group(option)), drive.properties);
}

void require_convertible(const Machine& machine) {
    require_unlocked(machine.config);
    if (config_flag(machine.config, "template")) throw failure("you can't convert a template to a template");
    if (machine.running) throw failure("you can't convert a VM to template if VM is running");
}

asio::awaitable<void> template_worker(Cluster& cluster, Task& task, std::string node, int vmid) {
    auto lock = co_await lock_machine(cluster, task, vmid);
    require_convertible(cluster.machine(node, vmid));
    co_await task.spend(cluster.world.durations.of_task("qmtemplate"));
    auto& machine = cluster.machine(node, vmid);
    machine.config["template"] = "1";
    for (const auto& [option, drive] : drives(machine.config)) {
        if (!drive.is_cdrom && drive.volume != "none") make_base(cluster, machine, option, drive);
    }
}

asio::awaitable<json::value> convert(Call& call) {
    require_convertible(call.machine());
    auto& task = call.cluster.create_task(call.node, "qmtemplate", call.text("vmid"), call.user);
    co_return json::value(
        call.cluster.run_task(task, template_worker(call.cluster, task, call.node, call.vmid())));
}

}  // namespace

void add_qemu_template(Routes& routes) {
    routes.add({.method = "POST",
                .path = "/nodes/{node}/qemu/{vmid}/template",
                .handler = convert,
                .parameters = "disk enum=" + join(drive_options(), "|"),
                .place = Place::node,
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/vms/{vmid}",
                .privileges = {"VM.Allocate"}});
}

}  // namespace proxmox_simulator
