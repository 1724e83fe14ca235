// POST /nodes/{node}/qemu: the request takes the ID, and a worker makes the disks.
#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/identifiers.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/machine_disks.hpp"
#include "test/simulators/proxmox/core/machine_rights.hpp"
#include "test/simulators/proxmox/core/pci_devices.hpp"
#include "test/simulators/proxmox/core/qemu.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/tag_rights.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"

namespace proxmox_simulator {
namespace {

struct Creation {
    std::string node, user, pool, default_storage;
    int vmid = 0;
    Config settings;
    bool start = false;
};

void make_identity(Cluster& cluster, Config& config) {
    if (!config.contains("boot")) {
        std::string first_disk, first_cdrom, first_net;
        for (const auto& [option, drive] : drives(config)) {
            auto& first = drive.is_cdrom ? first_cdrom : first_disk;
            if (first.empty() && option != "efidisk0" && option != "tpmstate0") first = option;
        }
        for (const auto& [option, value] : config) {
            if (first_net.empty() && is_network_interface(option)) first_net = option;
        }
        std::vector<std::string> order;
        for (const auto& device : {first_disk, first_cdrom, first_net}) {
            if (!device.empty()) order.push_back(device);
        }
        config["boot"] = order.empty() ? " " : "order=" + join(order, ";");
    }
    if (!config.contains("smbios1")) config["smbios1"] = "uuid=" + random_uuid(cluster.random);
    if (!config.contains("vmgenid") || config["vmgenid"] == "1")
        config["vmgenid"] = random_uuid(cluster.random);
    config["meta"] = "creation-qemu=10.1.2,ctime=" + std::to_string(cluster.wall_seconds());
    if (config.contains("tags")) config["tags"] = normalise_tags(config["tags"]);
}

asio::awaitable<void> fill_in(Cluster& cluster, Task& task, const Creation& creation,
                              std::vector<std::string>& volumes) {
    auto lock = co_await cluster.locks.acquire(machine_lock(creation.vmid), LockMode::exclusive,
                                               kShortLockTimeout, [&task] { task.check(); });
    DiskRequest request{creation.node, creation.vmid, creation.default_storage, {}};
    for (const auto& [option, value] : creation.settings) {
        if (is_drive(option)) request.settings[option] = value;
    }
    auto disks = co_await create_disks(cluster, task, std::move(request), volumes);
    co_await task.spend(cluster.world.durations.of_task("qmcreate"));
    auto config = creation.settings;
    for (auto& [option, value] : disks) config[option] = value;
    make_identity(cluster, config);
    cluster.require_writable(creation.node, creation.vmid);
    cluster.machine(creation.node, creation.vmid).config = std::move(config);
    if (!creation.pool.empty()) cluster.world.pools[creation.pool].vms.insert(creation.vmid);
}

asio::awaitable<void> create_worker(Cluster& cluster, Task& task, Creation creation) {
    std::vector<std::string> volumes;
    std::string complaint;
    try {
        co_await fill_in(cluster, task, creation, volumes);
    } catch (const ApiError& error) {
        complaint = error.what();
    }
    if (!complaint.empty()) {
        free_disks(cluster, creation.node, volumes);
        // Without quorum the worker cannot even undo what it had begun.
        if (cluster.has_quorum())
            cluster.world.machines.erase(creation.vmid);
        else
            task.log.push_back("failed to remove config file: Permission denied");
        bool aborted = complaint == "received interrupt";
        throw failure(aborted ? complaint
                              : "unable to create VM " + std::to_string(creation.vmid) + " - " + complaint);
    }
    if (!creation.start) co_return;
    // The start's own task alone shows its failure.
    task.log.push_back("Execute autostart");
    auto& start = cluster.create_task(creation.node, "qmstart", std::to_string(creation.vmid), creation.user);
    cluster.run_task(start, start_worker(cluster, start, creation.node, creation.vmid));
}

Config requested_config(const Call& call) {
    Config config;
    for (const auto& [name, value] : call.parameters) {
        if (vm_options().find(name) && value.is_string()) config[name] = std::string(value.as_string());
    }
    if (auto cdrom = config.find("cdrom"); cdrom != config.end()) {
        auto text = cdrom->second;
        if (text.find("media=") == std::string::npos) text += ",media=cdrom";
        config.erase("cdrom");
        config["ide2"] = text;
    }
    return config;
}

void require_create_rights(const Call& call, int vmid, const std::string& pool) {
    const auto& world = call.cluster.world;
    if (!pool.empty() && !world.pools.contains(pool))
        throw permission_denied("pool '" + pool + "' does not exist");
    if (call.has("storage")) call.require("/storage/" + call.text("storage"), "Datastore.AllocateSpace");
    if (call.flag("ha-managed")) call.require("/", "Sys.Console");
    if (call.flag("start")) require_machine_right(call, vmid, pool, {"VM.PowerMgmt"});
    bool allowed = has_any(world, call.user, "/vms/" + std::to_string(vmid), {"VM.Allocate"}) ||
                   (!pool.empty() && has_any(world, call.user, "/pool/" + pool, {"VM.Allocate"}));
    if (!allowed) throw permission_denied();
}

asio::awaitable<json::value> create(Call& call) {
    auto& cluster = call.cluster;
    Creation creation{call.node,   call.user, call.text("pool"), call.text("storage"),
                      call.vmid(), {},        call.flag("start")};
    const auto name = std::to_string(creation.vmid);
    cluster.require_quorum();
    require_create_rights(call, creation.vmid, creation.pool);
    if (call.has("archive")) throw failure("unable to restore VM " + name + " - backups are not simulated");
    creation.settings = requested_config(call);
    require_config_rights(call, creation.vmid, creation.pool, creation.settings);
    for (const auto& [option, value] : creation.settings)
        if (is_passed_through(option)) require_device_right(call.cluster.world, call.user, option, value);
    const auto tags = config_text(creation.settings, "tags");
    if (!tags.empty()) require_tag_rights(cluster.world, call.user, creation.vmid, "", tags);
    add_random_macs(cluster, creation.settings);
    if (auto other = cluster.world.machines.find(creation.vmid); other != cluster.world.machines.end()) {
        throw failure("unable to create VM " + name + " - VM " + name + " already exists on node '" +
                      other->second.node + "'");
    }
    Machine machine;
    machine.vmid = creation.vmid;
    machine.node = call.node;
    machine.config["lock"] = "create";
    cluster.world.machines[creation.vmid] = std::move(machine);
    auto& task = cluster.create_task(call.node, "qmcreate", name, call.user);
    co_return json::value(cluster.run_task(task, create_worker(cluster, task, std::move(creation))));
}

}  // namespace

void add_random_macs(Cluster& cluster, Config& config) {
    auto prefix = cluster.world.options.find("mac_prefix");
    for (auto& [option, value] : config) {
        if (!is_network_interface(option)) continue;
        auto properties = parse_properties(property_group("net"), value);
        if (!properties.contains("macaddr")) {
            properties["macaddr"] =
                random_mac(cluster.random, prefix == cluster.world.options.end() ? "" : prefix->second);
        }
        value = print_properties(property_group("net"), properties);
    }
}

void add_qemu_create(Routes& routes) {
    Endpoint endpoint{.method = "POST", .path = "/nodes/{node}/qemu", .handler = create};
    endpoint.parameters = R"(
        vmid! vmid
        archive maxlen=255
        bwlimit integer min=0
        force boolean requires=archive
        ha-managed boolean
        import-working-storage format=pve-storage-id
        live-restore boolean
        pool format=pve-poolid
        start boolean
        storage format=pve-storage-id
        unique boolean requires=archive)";
    endpoint.schema = vm_options();
    endpoint.place = Place::node;
    endpoint.daemon = true;
    routes.add(std::move(endpoint));
}

}  // namespace proxmox_simulator
