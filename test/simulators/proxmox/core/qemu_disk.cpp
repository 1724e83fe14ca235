// Endpoints to grow a disk and to take disks off a machine.
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/qemu.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

struct Resize {
    std::string node;
    int vmid = 0;
    std::string disk, size, digest;
};

asio::awaitable<void> resize_worker(Cluster& cluster, Task& task, Resize order) {
    auto lock = co_await lock_machine(cluster, task, order.vmid);
    auto config = cluster.machine(order.node, order.vmid).config;
    if (!order.digest.empty() && order.digest != config_digest(config)) {
        throw failure("checksum mismatch (file change by other user?)");
    }
    require_unlocked(config);
    if (!config.contains(order.disk)) throw failure("disk '" + order.disk + "' does not exist");
    auto drive = parse_drive(order.disk, config[order.disk]);
    if (drive.is_cdrom) throw failure("you can't resize a cdrom");
    auto* volume = find_volume(cluster.world, order.node, drive.volume);
    if (!volume) throw failure("volume '" + drive.volume + "' does not exist");
    auto size = parse_size(order.size).value_or(0) + (order.size.starts_with('+') ? volume->size : 0);
    if (size < volume->size) throw failure("shrinking disks is not supported");
    if (size == volume->size) co_return;
    co_await task.spend(cluster.world.durations.of_task("resize"));
    volume = find_volume(cluster.world, order.node, drive.volume);
    if (!volume) throw failure("volume '" + drive.volume + "' does not exist");
    volume->size = size;
    drive.properties["size"] = format_size(size);
    task.log.push_back("Image resized.");
    cluster.machine(order.node, order.vmid).config[order.disk] =
        print_properties(property_group(drive_group(order.disk)), drive.properties);
}

asio::awaitable<json::value> resize(Call& call) {
    call.only_root({"skiplock"});
    call.machine();
    call.cluster.require_quorum();
    Resize order{call.node, call.vmid(), call.text("disk"), call.text("size"), call.text("digest")};
    auto& task = call.cluster.create_task(call.node, "resize", call.text("vmid"), call.user);
    co_return json::value(call.cluster.run_task(task, resize_worker(call.cluster, task, std::move(order))));
}

}  // namespace

void add_qemu_disk(Routes& routes) {
    routes.add({.method = "PUT",
                .path = "/nodes/{node}/qemu/{vmid}/resize",
                .handler = resize,
                .parameters = "disk! enum=" + join(drive_options(), "|") + R"(
                    size! pattern=\+?\d+(\.\d+)?[KMGT]?
                    digest maxlen=40
                    skiplock boolean)",
                .place = Place::node,
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/vms/{vmid}",
                .privileges = {"VM.Config.Disk"}});
}

}  // namespace proxmox_simulator
