// POST .../clone: a worker makes the copy. Until it ends, the new machine is little more than a lock.
#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/identifiers.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/machine_disks.hpp"
#include "test/simulators/proxmox/core/machine_rights.hpp"
#include "test/simulators/proxmox/core/pci_devices.hpp"
#include "test/simulators/proxmox/core/qemu.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

constexpr std::uint64_t kLinkedMetadata = 393216;

struct Copy {
    std::string node, target, pool, storage, format, name;
    std::optional<std::string> description;
    int source = 0, vmid = 0;
    bool full = false;
};

ApiError id_taken(int vmid) {
    return failure("unable to create VM " + std::to_string(vmid) + ": config file already exists");
}

Machine& source_machine(Cluster& cluster, const std::string& node, int vmid) {
    if (auto* machine = cluster.find_machine(node, vmid)) return *machine;
    throw failure("unable to find configuration file for VM " + std::to_string(vmid) + " on node '" + node +
                  "'");
}

bool is_copied(const Drive& drive) {
    return drive.volume != "none" && (!drive.is_cdrom || is_cloudinit_volume(drive.volume));
}

// The caller must be allowed to use the storages of the source. They must be shared if the copy is for
// another host.
void require_storages(const Call& call, const Config& config, const Copy& copy) {
    const auto& world = call.cluster.world;
    bool shared = true;
    for (const auto& [option, drive] : drives(config)) {
        if (drive.volume == "none" || drive.volume == "cdrom") continue;
        auto id = parse_volume_id(drive.volume).storage;
        shared = shared && find_storage(world, id).shared;
        if (drive.is_cdrom) continue;
        call.require("/storage/" + (copy.storage.empty() ? id : copy.storage), "Datastore.AllocateSpace");
    }
    if (copy.target != copy.node && !shared) {
        throw failure("can't clone VM to node '" + copy.target + "' (VM uses local storage)");
    }
}

// The copy's network interfaces will be connected to the same bridges.
void require_bridges(const Call& call, const Config& config) {
    for (const auto& [option, value] : config)
        if (is_network_interface(option)) require_bridge(call.cluster.world, call.user, value);
}

void require_devices(const Call& call, const Config& config) {
    for (const auto& [option, value] : config)
        if (is_passed_through(option)) require_device_right(call.cluster.world, call.user, option, value);
}

void require_features(const Config& config, const Copy& copy) {
    for (const auto& [option, drive] : drives(config)) {
        if (copy.full || drive.is_cdrom || drive.volume == "none") continue;
        if (parse_volume_id(drive.volume).name.find("base-") == std::string::npos) {
            throw failure("Linked clone feature is not supported for '" + drive.volume + "' (" + option +
                          ")");
        }
    }
}

class Copier {
public:
    Copier(Cluster& cluster, Task& task, const Copy& copy, std::vector<std::string>& created)
        : cluster_(cluster), task_(task), copy_(copy), created_(created) {}

    std::string copy_drive(const std::string& option, Drive& drive) {
        if (!is_copied(drive)) return print(option, drive);
        const auto source = drive.volume;
        bool linked = !copy_.full && !drive.is_cdrom;
        auto& storage = usable_storage(cluster_.world, target_storage(source, linked), copy_.node);
        const auto* base = find_volume(std::as_const(cluster_.world), copy_.node, source);
        if (!base) throw failure("volume '" + source + "' does not exist");
        auto volume = *base;
        task_.log.push_back("create " + std::string(linked ? "linked" : "full") + " clone of drive " +
                            option + " (" + source + ")");
        volume.vmid = copy_.vmid;
        volume.created = cluster_.wall_seconds();
        volume.parent = linked ? base->name : "";
        if (linked) volume.used = kLinkedMetadata;
        if (!copy_.format.empty() && is_file_based(storage) && !drive.is_cdrom) volume.format = copy_.format;
        if (!is_file_based(storage)) volume.format = "raw";
        bool cloudinit = is_cloudinit_volume(source);
        volume.name = cloudinit ? cloudinit_name(storage, copy_.vmid)
                                : new_disk_name(storage, copy_.node, copy_.vmid, volume.format);
        const auto path = volume_path(storage, volume);
        require_space(storage, copy_.node, volume.used,
                      {"/usr/bin/qemu-img convert -p -n -f " + base->format + " -O " + volume.format + " " +
                           base->name + " zeroinit:" + path,
                       task_.log});
        drive.volume = print_volume_id(storage.id, add_volume(storage, copy_.node, volume));
        created_.push_back(drive.volume);
        if (!linked) task_.log.push_back("allocated target volume '" + drive.volume + "'");
        drive.properties["size"] = format_size(volume.size);
        return print(option, drive);
    }

    std::string target_storage(const std::string& volume, bool linked) const {
        return linked || copy_.storage.empty() ? parse_volume_id(volume).storage : copy_.storage;
    }

private:
    static std::string print(const std::string& option, Drive& drive) {
        drive.properties["file"] = drive.volume;
        return print_properties(property_group(drive_group(option)), drive.properties);
    }

    Cluster& cluster_;
    Task& task_;
    const Copy& copy_;
    std::vector<std::string>& created_;
};

Config inherited(Cluster& cluster, const Machine& source, const Copy& copy) {
    auto config = source.config;
    for (const char* option : {"template", "lock", "digest", "parent"}) config.erase(option);
    std::erase_if(config, [](const auto& entry) { return entry.first.starts_with("unused"); });
    config["name"] = !copy.name.empty() ? copy.name
                                        : "Copy-of-VM-" + (source.config.contains("name")
                                                               ? config_text(source.config, "name")
                                                               : std::to_string(copy.source));
    if (copy.description) config["description"] = *copy.description;
    for (auto& [option, value] : config) {
        if (!is_network_interface(option)) continue;
        auto properties = parse_properties(property_group("net"), value);
        properties.erase("macaddr");
        value = print_properties(property_group("net"), properties);
    }
    add_random_macs(cluster, config);
    Properties smbios;
    if (config.contains("smbios1")) smbios = parse_properties(property_group("smbios1"), config["smbios1"]);
    smbios["uuid"] = random_uuid(cluster.random);
    config["smbios1"] = print_properties(property_group("smbios1"), smbios);
    if (config.contains("vmgenid")) config["vmgenid"] = random_uuid(cluster.random);
    return config;
}

asio::awaitable<void> copy_machine(Cluster& cluster, Task& task, const Copy& copy,
                                   std::vector<std::string>& created) {
    auto config = inherited(cluster, source_machine(cluster, copy.node, copy.source), copy);
    Copier copier(cluster, task, copy, created);
    task.log.push_back("creating a clone of VM " + std::to_string(copy.source) + " with ID " +
                       std::to_string(copy.vmid));
    auto interrupted = [&task] { task.check(); };
    for (auto& [option, drive] : drives(config)) {
        auto changed = drive;
        if (is_copied(drive)) {
            bool linked = !copy.full && !drive.is_cdrom;
            auto name = storage_lock(cluster.world, copier.target_storage(drive.volume, linked), copy.node);
            auto lock = co_await cluster.locks.acquire(std::move(name), LockMode::exclusive, kLockTimeout,
                                                       interrupted);
            co_await task.spend(cluster.world.durations.of_task("allocate"));
            config[option] = copier.copy_drive(option, changed);
        } else {
            config[option] = copier.copy_drive(option, changed);
        }
    }
    const auto* kind = copy.full ? "qmclone-full" : "qmclone";
    co_await task.spend(cluster.world.durations.of_task(kind));
    cluster.require_writable(copy.node, copy.vmid);
    auto& machine = cluster.machine(copy.node, copy.vmid);
    machine.config = std::move(config);
    machine.node = copy.target;
    if (!copy.pool.empty()) cluster.world.pools[copy.pool].vms.insert(copy.vmid);
}

asio::awaitable<void> clone_worker(Cluster& cluster, Task& task, Copy copy) {
    auto interrupted = [&task] { task.check(); };
    bool running = source_machine(cluster, copy.node, copy.source).running.has_value();
    auto mode = running ? LockMode::exclusive : LockMode::shared;
    auto source_lock =
        co_await cluster.locks.acquire(machine_lock(copy.source), mode, kShortLockTimeout, interrupted);
    auto lock = co_await cluster.locks.acquire(machine_lock(copy.vmid), LockMode::exclusive,
                                               kShortLockTimeout, interrupted);
    if (cluster.world.machines.contains(copy.vmid)) throw id_taken(copy.vmid);
    Machine machine;
    machine.vmid = copy.vmid;
    machine.node = copy.node;
    machine.config = {{"lock", "clone"}, {"description", " qmclone temporary file"}};
    cluster.world.machines[copy.vmid] = std::move(machine);
    std::vector<std::string> created;
    std::string complaint;
    try {
        co_await copy_machine(cluster, task, copy, created);
    } catch (const ApiError& error) {
        complaint = error.what();
    }
    if (complaint.empty()) co_return;
    free_disks(cluster, copy.node, created);
    // Without quorum the worker cannot even undo what it had begun.
    if (cluster.has_quorum()) cluster.world.machines.erase(copy.vmid);
    throw failure("clone failed: " + complaint);
}

void require_clone_rights(const Call& call, const Copy& copy) {
    const auto& world = call.cluster.world;
    bool allowed = has_any(world, call.user, "/vms/" + std::to_string(copy.vmid), {"VM.Allocate"}) ||
                   (!copy.pool.empty() && has_any(world, call.user, "/pool/" + copy.pool, {"VM.Allocate"}));
    if (!allowed) throw permission_denied();
    if (!copy.pool.empty() && !world.pools.contains(copy.pool))
        throw permission_denied("pool '" + copy.pool + "' does not exist");
}

void require_target(Cluster& cluster, const Copy& copy) {
    cluster.host(copy.target);
    if (copy.storage.empty()) return;
    usable_storage(cluster.world, copy.storage, copy.node);
    if (copy.target == copy.node) return;
    usable_storage(cluster.world, copy.storage, copy.target);
    if (!find_storage(std::as_const(cluster.world), copy.storage).shared) {
        throw failure("can't clone to non-shared storage '" + copy.storage + "'");
    }
}

asio::awaitable<json::value> clone(Call& call) {
    auto& cluster = call.cluster;
    Copy copy;
    copy.node = call.node;
    copy.target = call.text("target", call.node);
    if (copy.target == "localhost") copy.target = call.node;
    copy.pool = call.text("pool");
    copy.storage = call.text("storage");
    copy.format = call.text("format");
    copy.name = call.text("name");
    if (call.has("description")) copy.description = call.text("description");
    copy.source = call.vmid();
    copy.vmid = static_cast<int>(call.integer("newid"));
    require_clone_rights(call, copy);
    cluster.require_quorum();
    require_target(cluster, copy);
    const auto& source = source_machine(cluster, copy.node, copy.source);
    require_unlocked(source.config);
    if (call.has("snapname")) throw failure("snapshot '" + call.text("snapname") + "' does not exist");
    copy.full = call.flag("full", !config_flag(source.config, "template"));
    for (const char* name : {"storage", "format"}) {
        if (!copy.full && call.has(name))
            throw failure(std::string("parameter '") + name + "' not allowed for linked clones");
    }
    require_storages(call, source.config, copy);
    require_bridges(call, source.config);
    require_devices(call, source.config);
    if (cluster.world.machines.contains(copy.vmid)) throw id_taken(copy.vmid);
    require_features(source.config, copy);
    auto& task = cluster.create_task(call.node, "qmclone", call.text("vmid"), call.user);
    co_return json::value(cluster.run_task(task, clone_worker(cluster, task, std::move(copy))));
}

}  // namespace

void add_qemu_clone(Routes& routes) {
    routes.add({.method = "POST",
                .path = "/nodes/{node}/qemu/{vmid}/clone",
                .handler = clone,
                .parameters = R"(
                    newid! vmid
                    name format=dns-name
                    description string
                    full boolean
                    storage format=pve-storage-id
                    format enum=raw|qcow2|vmdk
                    target format=pve-node
                    pool format=pve-poolid
                    snapname format=pve-configid maxlen=40
                    bwlimit integer min=0)",
                .place = Place::node,
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/vms/{vmid}",
                .privileges = {"VM.Clone"}});
}

}  // namespace proxmox_simulator
