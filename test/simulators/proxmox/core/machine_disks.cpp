#include "test/simulators/proxmox/core/machine_disks.hpp"

#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/machine_rights.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

constexpr std::uint64_t kCloudinitSize = 4 * kMiB;
// Space that an empty thin image takes.
constexpr std::uint64_t kMetadata = 196608;

std::string formatting(const std::string& path, const std::string& format, std::uint64_t size) {
    return "Formatting '" + path + "', fmt=" + format + " size=" + std::to_string(size);
}

struct Maker {
    Cluster& cluster;
    Task& task;
    const DiskRequest& request;
    std::vector<std::string>& created;

    std::string print(const std::string& option, Drive& drive) const {
        drive.properties["file"] = drive.volume;
        return print_properties(property_group(drive_group(option)), drive.properties);
    }

    std::string allocate(Storage& storage, Volume volume) const {
        auto path = volume_path(storage, volume);
        require_space(storage, request.node, volume.used,
                      {"/usr/bin/qemu-img create -f " + volume.format + " " + path, task.log});
        if (volume.format != "raw") task.log.push_back(formatting(path, volume.format, volume.size));
        const auto& added = add_volume(storage, request.node, std::move(volume));
        created.push_back(print_volume_id(storage.id, added));
        return created.back();
    }

    std::string make_cloudinit(const std::string& option, Drive& drive) const {
        auto id = drive.volume.substr(0, drive.volume.find(':'));
        auto& storage = usable_storage(cluster.world, id, request.node);
        require_content(storage, "images");
        Volume volume{cloudinit_name(storage, request.vmid),
                      "images",
                      is_file_based(storage) ? "qcow2" : "raw",
                      kCloudinitSize,
                      kMetadata,
                      request.vmid,
                      "",
                      cluster.wall_seconds(),
                      ""};
        if (volumes_on(storage, request.node).contains(volume.name))
            throw failure("disk image '" + volume.name + "' already exists");
        drive.volume = allocate(storage, std::move(volume));
        drive.properties["media"] = "cdrom";
        drive.properties.erase("format");
        auto text = print(option, drive);
        task.log.push_back(option + ": successfully created disk '" + text + "'");
        return text;
    }

    std::string make_disk(const std::string& option, Drive& drive, const NewDisk& disk) const {
        auto& storage = usable_storage(cluster.world, disk.storage, request.node);
        auto format =
            drive.properties.contains("format") ? drive.properties["format"] : default_format(storage);
        if (!is_file_based(storage)) format = "raw";
        Volume volume{
            new_disk_name(storage, request.node, request.vmid, format),
            "images",
            format,
            disk.size,
            format == "raw" && !is_file_based(storage) && storage.type == "lvm" ? disk.size : kMetadata,
            request.vmid,
            "",
            cluster.wall_seconds(),
            ""};
        if (auto source = drive.properties.find("import-from"); source != drive.properties.end()) {
            auto* image = find_volume(cluster.world, request.node, source->second);
            auto id = parse_volume_id(source->second);
            if (!image) {
                throw failure("failed to stat '" + find_storage(cluster.world, id.storage).path + "/" +
                              id.name + "'");
            }
            volume.size = image->virtual_size > 0 ? image->virtual_size : image->size;
            volume.used = image->used;
            volume.data = image->data;
            drive.properties.erase(source);
        }
        drive.properties["size"] = format_size(volume.size);
        drive.volume = allocate(storage, std::move(volume));
        drive.properties.erase("format");
        auto text = print(option, drive);
        task.log.push_back(option + ": successfully created disk '" + text + "'");
        return text;
    }

    std::string use_existing(const std::string& option, Drive& drive) const {
        const auto* volume = find_volume(cluster.world, request.node, drive.volume);
        if (!volume) throw failure("volume '" + drive.volume + "' does not exist");
        drive.properties["size"] = format_size(volume->size);
        return print(option, drive);
    }
};

}  // namespace

asio::awaitable<Config> create_disks(Cluster& cluster, Task& task, DiskRequest request,
                                     std::vector<std::string>& created) {
    Config result;
    Maker maker{cluster, task, request, created};
    for (const auto& [option, value] : request.settings) {
        auto drive = parse_drive(option, value);
        auto disk = parse_new_disk(drive.volume, request.default_storage);
        if (drive.volume == "none" || drive.volume == "cdrom") {
            drive.properties.erase("size");
            result[option] = maker.print(option, drive);
        } else if (drive.volume.ends_with(":cloudinit") || disk) {
            auto storage = disk ? disk->storage : drive.volume.substr(0, drive.volume.find(':'));
            auto lock =
                co_await cluster.locks.acquire(storage_lock(cluster.world, storage, request.node),
                                               LockMode::exclusive, kLockTimeout, [&task] { task.check(); });
            result[option] =
                disk ? maker.make_disk(option, drive, *disk) : maker.make_cloudinit(option, drive);
            co_await task.spend(cluster.world.durations.of_task("allocate"));
        } else {
            result[option] = maker.use_existing(option, drive);
        }
    }
    co_return result;
}

void free_disks(Cluster& cluster, const std::string& node, const std::vector<std::string>& volumes) {
    for (const auto& volume : volumes) free_volume(cluster.world, node, volume);
}

}  // namespace proxmox_simulator
